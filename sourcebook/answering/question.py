"""A question as a session: with the reach of its caller, redacted where a collection asks for it, and its log."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from psycopg import Connection

from sourcebook.answering.answering_settings import AskedCollections
from sourcebook.answering.conversation import redacted_turns
from sourcebook.answering.session import Session
from sourcebook.answering.task import Task
from sourcebook.answering.tools import Reach
from sourcebook.answering.turn import Call, CallLog
from sourcebook.database.usage_log import UsageLog
from sourcebook.model.usage import ANSWER, Use

Connecting = Callable[[], AbstractContextManager[Connection]]
"""Lends a connection in autocommit mode."""


def session_of(
    question: str,
    asked: AskedCollections,
    reach: Reach,
    connecting: Connecting,
    usage: UsageLog,
    task: Task | None = None,
) -> Session:
    """Return the session of a question, which has not begun."""

    def redact(text: str) -> str:
        for redactor in asked.redactors:
            text = redactor.redact(text).text
        return text

    given = task or Task()
    sent = replace(
        given,
        instructions=given.instructions and redact(given.instructions),
        history=redacted_turns(given.history, redact),
    )
    calls = CountedCalls(usage, asked.names[0] if asked.names else "", asked.settings.model, _log_of(asked, connecting))
    return Session(question, redact(question), asked.settings, reach, calls, sent)


def _log_of(asked: AskedCollections, connecting: Connecting) -> CallLog | None:
    settings = asked.settings
    if not settings.log:
        return None
    from sourcebook.answering.call_log import DatabaseCallLog, RedactedTexts
    from sourcebook.redaction.redactor import Redactor

    texts = RedactedTexts([*asked.redactors, Redactor()])
    return DatabaseCallLog(connecting, asked.names, settings.model, settings.retention, texts)


@dataclass(frozen=True, slots=True)
class CountedCalls:
    """Calls of one session: adds each to the usage, and to the log where there is one."""

    usage: UsageLog
    collection: str
    """Collection that the use counts for: the first one that was asked."""
    model: str
    log: CallLog | None

    def add(self, session: str, provider: str, call: Call) -> None:
        """Count a call, also one that failed."""
        used = Use(
            self.collection,
            provider,
            self.model,
            ANSWER,
            1,
            tokens=call.prompt_tokens,
            answer_tokens=call.answer_tokens,
            seconds=call.seconds,
        )
        self.usage.add(used)
        if self.log is not None:
            self.log.add(session, provider, call)
