"""The log of language models as it is written: redacted, and with the time until which it is kept."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from psycopg import Connection

from sourcebook.answering.turn import Call
from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseError
from sourcebook.redaction.redactor import RedactionMemory, Redactor

ASK: Final = "ask"
IMPORT: Final = "import"
PROGRAM: Final = "program"
MOST_CHARACTERS: Final = 1_000_000
"""Characters of a prompt or an answer that the log keeps."""
_log = logging.getLogger("sourcebook.answering")


class RedactedTexts:
    """Redacts the texts of one session, with the same placeholder for the same value in all of them."""

    def __init__(self, redactors: Sequence[Redactor]) -> None:
        self._redactors = redactors
        self._memories = [RedactionMemory() for _ in redactors]
        self.found = False
        """Whether something was replaced since `reset`."""

    def reset(self) -> None:
        """Forget that something was replaced."""
        self.found = False

    def of(self, text: str) -> str:
        """Return a text as the log keeps it."""
        text = text.replace("\0", "").encode("utf-8", "replace").decode()
        for redactor, memory in zip(self._redactors, self._memories, strict=True):
            redacted = redactor.redact(text, memory)
            self.found |= bool(redacted.finds)
            text = redacted.text
        return text[:MOST_CHARACTERS]


@dataclass(slots=True)
class DatabaseCallLog:
    """Writes the calls of a session to the knowledge base. A log that cannot be written costs nobody an answer."""

    connecting: Callable[[], AbstractContextManager[Connection]]
    collections: Sequence[str]
    model: str
    retention: timedelta
    texts: RedactedTexts
    _conversation: list[Any] = field(default_factory=list)
    _written: int = field(default=0)
    """Messages of the conversation that stand in the log."""

    def add(self, session: str, provider: str, call: Call) -> None:
        """Write a call, and delete those that are older than the log keeps them."""
        self.texts.reset()
        now = datetime.now(UTC)
        if call.messages is not self._conversation:  # the question was rewritten before
            self._conversation, self._written = call.messages, 0
        new, self._written = call.messages[self._written :], len(call.messages)
        prompt = self.texts.of("\n\n".join(f"{each['role']}: {_content(each)}" for each in new))
        asked = [f"{each.name}({each.arguments})" for each in call.calls]
        answer = self.texts.of("\n".join([*([call.answer] if call.answer else []), *asked]))
        values = {
            "session": session,
            "turn": call.turn,
            "origin": ASK,
            "imported_id": None,
            "collections": list(self.collections),
            "provider": provider,
            "model": self.model,
            "prompt": prompt,
            "answer": answer,
            "prompt_tokens": call.prompt_tokens,
            "answer_tokens": call.answer_tokens,
            "cost": call.cost,
            "ok": call.failure is None,
            "failure": None if call.failure is None else self.texts.of(call.failure),
            "redacted": self.texts.found,
            "seconds": call.seconds,
            "asked_at": now - timedelta(seconds=call.seconds),
            "expires_at": now + self.retention,
        }
        try:
            with self.connecting() as connection:
                connection.execute(queries["log_llm_call"], values)
                connection.execute(queries["delete_old_llm_calls"])
        except (DatabaseError, OSError) as error:
            _log.warning("a call of a language model is missing from its log: %s", error)


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    calls = message.get("tool_calls") or ()
    listed = [f"{each['function']['name']}({each['function']['arguments']})" for each in calls]
    return "\n".join([*([str(content)] if content else []), *listed])
