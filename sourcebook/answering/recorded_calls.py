"""Calls that programs make to language models of their own, in the log beside those of `ask`."""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import uuid4

from psycopg import Connection

from sourcebook.admin.collections import check_collections
from sourcebook.admin.redacted_documents import collection_redactions
from sourcebook.answering.call_log import PROGRAM, RedactedTexts
from sourcebook.answering.logged_calls import logged_calls
from sourcebook.contract.llm_log import LlmCallRequest, LoggedCall
from sourcebook.database.queries import queries
from sourcebook.embedding.prices import chat_cost
from sourcebook.errors import QueryError
from sourcebook.model.usage import UNKNOWN_PROVIDER
from sourcebook.redaction.documents import redactor_of
from sourcebook.redaction.redactor import Redactor

_MOST_SECONDS: Final = 7 * 86_400


def record_call(connection: Connection, call: LlmCallRequest) -> LoggedCall:
    """Add a call to the log, redacted; return it as it stands there."""
    if call.seconds is not None and call.seconds > _MOST_SECONDS:
        raise QueryError(f"seconds is {call.seconds}; it must be at most {_MOST_SECONDS:,}, which is a week")
    names = list(call.collections or ())
    check_collections(connection, names)
    own = [redactor_of(each) for each in collection_redactions(connection, names).values()] if names else []
    texts = RedactedTexts([*own, Redactor()])
    now, session = datetime.now(UTC), texts.of(call.session or uuid4().hex)
    cost = call.cost
    if cost is None:
        cost = chat_cost(call.provider or "", call.model, call.prompt_tokens, call.answer_tokens, None)
    texts.reset()
    values = {
        "session": session,
        "origin": PROGRAM,
        "imported_id": None,
        "collections": names,
        "provider": texts.of(call.provider or UNKNOWN_PROVIDER),
        "model": texts.of(call.model),
        "prompt": texts.of(call.prompt),
        "answer": texts.of(call.answer),
        "prompt_tokens": call.prompt_tokens,
        "answer_tokens": call.answer_tokens,
        "cost": cost,
        "ok": call.failure is None,
        "failure": None if call.failure is None else texts.of(call.failure),
        "seconds": call.seconds,
        "asked_at": now - timedelta(seconds=call.seconds or 0),
        "expires_at": now + timedelta(days=call.days),
    }
    values["redacted"] = texts.found
    with connection.transaction():
        row = connection.execute(queries["next_llm_turn"], {"session": session}).fetchone()
        connection.execute(queries["log_llm_call"], {**values, "turn": row[0] if row else 1})
        (logged,) = logged_calls(connection, session=session, limit=1)
    connection.execute(queries["delete_old_llm_calls"])
    return logged
