"""A question as the page's form or address asks it, with what it is about and what was asked before."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from sourcebook.contract.ask_sessions import AskTurn
from sourcebook.errors import QueryError
from sourcebook.server.page.narrowing import changed_between
from sourcebook.server.page.translation import gettext

_MOST_TURNS: Final = 10
"""Earlier turns that a page carries where no conversation is kept: a model reads no more."""
_LONGEST: Final = 8_000
"""Characters of the question and of the answer of a carried turn."""


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A question to a language model."""

    q: str
    collections: list[str]
    tags: list[str]
    since: str
    """Day from which on the documents have changed; empty for any."""
    until: str
    session: str
    """Name of the conversation that is kept; empty for none, or a new one."""
    earlier: tuple[AskTurn, ...]
    """Turns before it, where no conversation is kept."""

    @classmethod
    def of(cls, fields: Mapping[str, Sequence[str]]) -> "PageQuestion":
        """Return the question of the fields of a form or an address.

        Raises:
            QueryError: the earlier turns are none.
        """
        lists = {name: [each.strip() for each in values if each.strip()] for name, values in fields.items()}
        one = {name: values[0] for name, values in lists.items() if values}
        return cls(
            one.get("q", ""),
            lists.get("collection", []),
            lists.get("tag", []),
            one.get("since", ""),
            one.get("until", ""),
            one.get("session", ""),
            _turns(one.get("history", "[]")),
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the address of the question, without what was asked before it."""
        about = {"collection": self.collections, "tag": self.tags, "since": self.since, "until": self.until}
        return {"q": self.q, **about}

    @property
    def filters(self) -> dict[str, Any]:
        """Filters of the search."""
        tags = {"tags_any": self.tags} if self.tags else {}
        return tags | changed_between(self.since, self.until)

    @property
    def carried(self) -> dict[str, str]:
        """Fields that the form of the next question carries: the name of the conversation, or its turns as JSON."""
        fields = ("question", "answer", "reason", "sources")
        turns = [{name: getattr(each, name) for name in fields} for each in self.earlier]
        return {"session": self.session, "history": "" if self.session or not turns else json.dumps(turns)}

    def followed_by(self, turn: AskTurn) -> "PageQuestion":
        """Return the question with a turn more before it."""
        cut = replace(turn, question=turn.question[:_LONGEST], answer=turn.answer[:_LONGEST])
        return replace(self, earlier=(*self.earlier, cut)[-_MOST_TURNS:])


def _turns(written: str) -> tuple[AskTurn, ...]:
    try:
        return tuple(_turn(**each) for each in json.loads(written))
    except (ValueError, TypeError, RecursionError):
        raise QueryError(gettext("what was asked before cannot be read: ask anew")) from None


def _turn(question: str, answer: str, reason: str | None, sources: list[str]) -> AskTurn:
    texts = [question, answer, reason or "", *sources]
    if not all(isinstance(each, str) for each in texts):
        raise TypeError
    return AskTurn(question, answer, reason, sources, [], datetime.now(UTC))
