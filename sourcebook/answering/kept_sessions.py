"""Conversations that are kept: each belongs to the caller who began it, and nobody else sees that it is there."""

import logging
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.answering.answering_settings import AskedCollections
from sourcebook.answering.question import Connecting
from sourcebook.contract.answers import Answer, AskEvent
from sourcebook.contract.ask_sessions import AskSession, AskTurn
from sourcebook.contract.asking import MOST_TURNS, EarlierTurn
from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseError, QueryError

_MOST_CHARACTERS: Final = 100_000
"""Characters of a question or an answer that are kept."""
WITHHELD: Final = "withheld"
"""Reason of a turn whose answer is not shown."""
_log = logging.getLogger("sourcebook.answering")


@dataclass(frozen=True, slots=True)
class KeptSession:
    """One conversation of one caller."""

    owner: str
    name: str
    collections: Sequence[str]
    retention: timedelta

    @classmethod
    def of(cls, owner: str, name: str, asked: AskedCollections) -> "KeptSession":
        """Return the conversation of a caller.

        Raises:
            QueryError: the collections keep none.
        """
        if asked.settings.sessions is None:
            raise QueryError(
                "no conversation is kept: set answering.sessions of the collection, such as 7d, or send the history"
            )
        return cls(owner, name, asked.names, asked.settings.sessions)

    def history(self, turns: Sequence[AskTurn]) -> tuple[EarlierTurn, ...]:
        """Return its last turns, as the model reads them.

        Args:
            turns: the turns that are kept, as the caller may see them.

        Raises:
            QueryError: they are about a collection that is not asked now, whose texts its model may not read.
        """
        turns = turns[-MOST_TURNS:]
        others = sorted({name for each in turns for name in each.collections} - set(self.collections))
        if others:
            listed = ", ".join(others)
            raise QueryError(
                f"the session {self.name} has asked {listed}, too: ask these as well, or name another session"
            )
        return tuple(EarlierTurn(each.question, each.answer) for each in turns if each.reason != WITHHELD)

    def kept(
        self, events: Iterable[AskEvent], sent_question: str, connecting: Connecting
    ) -> Generator[AskEvent, None, None]:
        """Yield the events of a question; the answer is kept before it is yielded."""
        for event in events:
            if isinstance(event, Answer):
                self._keep(event, sent_question, connecting)
            yield event

    def _keep(self, answer: Answer, question: str, connecting: Connecting) -> None:
        now = datetime.now(UTC)
        values = {
            "owner": self.owner,
            "session": self.name,
            "collections": list(self.collections),
            "question": question[:_MOST_CHARACTERS],
            "answer": answer.text[:_MOST_CHARACTERS].replace("\0", ""),
            "reason": answer.reason,
            "sources": [each.uri for each in answer.sources],
            "asked_at": now,
            "expires_at": now + self.retention,
        }
        try:
            with connecting() as connection:
                connection.execute(queries["keep_ask_turn"], values)
                connection.execute(queries["delete_old_ask_turns"])
        except (DatabaseError, OSError) as error:
            _log.warning("a turn of a conversation is not kept: %s", error)


def sessions_of(connection: Connection, owner: str) -> list[AskSession]:
    """Return the conversations of a caller, the one that was continued last first."""
    with connection.cursor(row_factory=class_row(AskSession)) as cursor:
        return cursor.execute(queries["ask_sessions"], {"owner": owner}).fetchall()


def session_turns(connection: Connection, owner: str, session: str) -> list[AskTurn]:
    """Return the turns of a conversation, the oldest first; none where the caller has none of this name."""
    with connection.cursor(row_factory=class_row(AskTurn)) as cursor:
        return cursor.execute(queries["ask_turns"], {"owner": owner, "session": session}).fetchall()


def without_hidden(connection: Connection, turns: Iterable[AskTurn]) -> list[AskTurn]:
    """Return turns without the answers that cite what a session of principals does not see, or no longer."""
    return [each if _sees_sources(connection, each) else _withheld(each) for each in turns]


def _sees_sources(connection: Connection, turn: AskTurn) -> bool:
    bare = [{uri, _without_place(uri)} for uri in turn.sources]
    sent = {"uris": sorted(set().union(*bare)), "collections": turn.collections}
    seen = {row[0] for row in connection.execute(queries["seen_documents"], sent)}
    return all(each & seen for each in bare)


def _without_place(uri: str) -> str:
    """Return the address of a document of one that may lead to a place in it; routes of scripts begin with `#/`."""
    return uri.rpartition("?id=" if "#/" in uri or "#!" in uri else "#")[0]


def _withheld(turn: AskTurn) -> AskTurn:
    said = "This answer is not shown any more: it cites a document that is gone, or that you may not see now."
    return replace(turn, answer=said, reason=WITHHELD, sources=[])


def forget_session(connection: Connection, owner: str, session: str) -> int:
    """Delete a conversation of a caller; return the number of its turns."""
    return connection.execute(queries["forget_ask_session"], {"owner": owner, "session": session}).rowcount


def delete_old_turns(connection: Connection) -> int:
    """Delete the turns that are older than they are kept; return their number."""
    return connection.execute(queries["delete_old_ask_turns"]).rowcount
