"""Answers of a language model, and the log of its calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from sourcebook.contract.fields import checked_names
from sourcebook.operations.audited import AskedReading
from sourcebook.operations.contents import show
from sourcebook.operations.principals import for_principals
from sourcebook.operations.searching import search

if TYPE_CHECKING:
    from sourcebook.answering.tools import ToolFormat
    from sourcebook.config.answering import AnsweringSettings
    from sourcebook.contract.answers import Answer
    from sourcebook.contract.ask_events import AskEvents
    from sourcebook.contract.asking import AskOptions, ToolOption
    from sourcebook.contract.llm_log import CallStatistics, LoggedCall
    from sourcebook.contract.search_results import SearchResults
    from sourcebook.operations.opened import Opened
    from sourcebook.operations.principals import AsPrincipals


@for_principals
def ask(
    knowledge: Opened,
    question: str,
    collections: Sequence[str] | str | None = None,
    *,
    answering: AnsweringSettings | Mapping[str, Any] | None = None,
    owner: str | None = None,
    as_principals: AsPrincipals | None = None,
    **options: Unpack[AskOptions],
) -> Answer:
    """Return the answer of a language model from the passages that are found, with citations that were checked.

    Where nothing relevant is found, no model is asked and the answer is a refusal. With a document under work the model
    reads it whole, or its `document_pages`, beside what is found; with an `answer_schema` the answer has a `value` that
    keeps to it.

    Args:
        question: the question, at most 100,000 characters.
        collections: names, or one name; every collection with settings of answering where None.
        answering: settings of answering in place of those of the collections, such as
            `{"base_url": "http://127.0.0.1:8080/v1", "model": "smollm2"}`.
        owner: whose conversation `session` names; the account of this process by default.
        as_principals: see `search`.
        options: see `AskRequest`, such as `instructions`, `document`, `answer_schema`, `history` and `filters`.

    Raises:
        QueryError: an argument is not allowed, a collection does not exist or has no settings of answering, or the
            document does not fit into a request.
        UnknownDocumentError: the collections that are asked have no such document.
        ModelError: the server of the model refuses, fails or stops halfway, or an embedding model cannot be loaded.
    """
    from sourcebook.contract.answers import Answer

    events = ask_stream(knowledge, question, collections, answering=answering, owner=owner, **options)
    return next(event for event in events if isinstance(event, Answer))


def answering_collections(knowledge: Opened) -> dict[str, bool]:
    """Return the names of the collections with settings of answering, and whether each keeps conversations."""
    from sourcebook.answering.answering_settings import answering_names

    with knowledge.database.short_connection() as connection:
        return answering_names(connection)


@for_principals
def ask_stream(
    knowledge: Opened,
    question: str,
    collections: Sequence[str] | str | None = None,
    *,
    answering: AnsweringSettings | Mapping[str, Any] | None = None,
    owner: str | None = None,
    as_principals: AsPrincipals | None = None,
    **options: Unpack[AskOptions],
) -> AskEvents:
    """Yield what happens on the way to an answer, its text sentence by sentence as it is checked, and the answer.

    Arguments and errors are those of `ask`. Closing the iterator ends the request to the model, also while another
    thread waits for it.
    """
    return _stream(knowledge, partial(search, knowledge), question, collections, answering, owner, options)


def ask_generation(knowledge: Opened, question: str, collection: str, generation: int) -> Answer:
    """Return the answer of a collection's model from the passages that one of its generations finds.

    Raises:
        QueryError: the collection has no settings of answering, or no such generation.
        ModelError: the server of the model refuses, fails or stops halfway.
    """
    from sourcebook.contract.answers import Answer

    searched = partial(search, knowledge, generation=generation)
    events = _stream(knowledge, searched, question, collection, None, None, {})
    return next(event for event in events if isinstance(event, Answer))


def _stream(
    knowledge: Opened,
    search: Callable[..., SearchResults],
    question: str,
    collections: Sequence[str] | str | None,
    answering: AnsweringSettings | Mapping[str, Any] | None,
    owner: str | None,
    options: AskOptions,
) -> AskEvents:
    """Return the events of a question whose passages a search finds."""
    from sourcebook.answering.answer_schema import AnswerSchema
    from sourcebook.answering.answering_settings import asked_collections
    from sourcebook.answering.document_parts import document_of
    from sourcebook.answering.kept_sessions import KeptSession
    from sourcebook.answering.question import session_of
    from sourcebook.answering.task import Task
    from sourcebook.answering.tools import Reach
    from sourcebook.contract.ask_events import AskEvents
    from sourcebook.contract.asking import AskRequest
    from sourcebook.redaction.for_models import for_model, read_by_model

    request = AskRequest.of(question=question, collections=collections, **options)
    search_request, schema, named = request.search, request.answer_schema, request.document
    kept, history = None, request.history
    with knowledge._books.connection() as connection, read_by_model():
        asked = asked_collections(connection, search_request.collections, answering)
        if request.session is not None:
            kept = KeptSession.of(owner or knowledge._account, request.session, asked)
    if kept is not None:
        history = kept.history(knowledge._turns_of(kept.owner, kept.name))
    reading = AskedReading(knowledge, question, asked.names)
    searched = for_model(reading.noting(search))
    shown = for_model(reading.noting(partial(show, knowledge)))
    task = Task(
        request.instructions,
        None if named is None else document_of(shown, named, asked.names),
        request.document_pages,
        None if schema is None else AnswerSchema.checked(schema),
        history,
        request.tool_options,
    )
    reach = Reach(searched, shown, list(asked.names) or None, search_request.filters)
    usage = knowledge._ready().usage
    session = session_of(question, asked, reach, knowledge._books.connection, usage, task)
    if kept is None:
        return AskEvents(reading.recorded(session.events()), session.leave)
    session.id = kept.name
    events = kept.kept(session.events(), session.sent_question, knowledge._books.connection)
    return AskEvents(reading.recorded(events), session.leave)


def tool_schemas(
    knowledge: Opened,
    format: ToolFormat = "openai",  # noqa: A002 - as in `context`
    tool_options: Sequence[ToolOption] = ("tags", "filters", "neighbours"),
) -> list[dict[str, Any]]:
    """Return the tools `search` and `fetch` as a model's protocol describes functions, for agents of one's own.

    Args:
        format: `openai` for chat completions, `responses` for OpenAI's API of responses, `anthropic` for messages.
        tool_options: what the model may set in a search, beside the query and the limit.

    Raises:
        QueryError: there is no such format or option.
    """
    from sourcebook.answering.tools import tool_schemas

    return tool_schemas(format, tool_options)


def llm_calls(
    knowledge: Opened,
    collections: Sequence[str] | str | None = None,
    *,
    since: timedelta | None = None,
    session: str | None = None,
    failed: bool = False,
    before: int | None = None,
    limit: int = 50,
) -> list[LoggedCall]:
    """Return the logged calls of language models, the newest first.

    Args:
        collections: only calls that asked no other collections than these names, or this name; all where None.
        since: only calls of this last time, such as `timedelta(days=7)`.
        session: only calls of this session.
        failed: only calls without an answer.
        before: only calls with a lower id, such as the last of the page before.
        limit: the most calls, 1 to 10,000.

    Raises:
        QueryError: a collection does not exist, or the limit is not allowed.
    """
    from sourcebook.answering.logged_calls import logged_calls

    with knowledge.database.connection() as connection:
        return logged_calls(
            connection,
            checked_names(collections),
            age=since,
            session=session,
            failed=failed,
            before=before,
            limit=limit,
        )


def record_llm_call(
    knowledge: Opened,
    model: str,
    prompt: str,
    answer: str = "",
    *,
    failure: str | None = None,
    session: str | None = None,
    provider: str | None = None,
    prompt_tokens: int | None = None,
    answer_tokens: int | None = None,
    cost: float | None = None,
    seconds: float | None = None,
    collections: Sequence[str] | str | None = None,
    days: int = 30,
) -> LoggedCall:
    """Add a call of the program's own to a language model to the log; return it as it stands there, redacted.

    Args:
        model: name of the model.
        prompt: what it read.
        answer: what it wrote.
        failure: a sentence, where there was no answer.
        session: name of a conversation, whose calls are counted; a new one where None.
        provider: name or host of the service, such as `openai`.
        prompt_tokens: tokens that the model read.
        answer_tokens: tokens that it wrote.
        cost: US dollars; by the tokens and the price, where that is known, where None.
        seconds: seconds that it took, at most a week.
        collections: names of the collections that it was about, or one name: it is deleted with them.
        days: days after which it is deleted.

    Raises:
        QueryError: an argument is not allowed, or a collection does not exist.
    """
    from sourcebook.answering.recorded_calls import record_call
    from sourcebook.contract.llm_log import LlmCallRequest

    call = LlmCallRequest.of(
        model=model,
        prompt=prompt,
        answer=answer,
        failure=failure,
        session=session,
        provider=provider,
        prompt_tokens=prompt_tokens,
        answer_tokens=answer_tokens,
        cost=cost,
        seconds=seconds,
        collections=collections,
        days=days,
    )
    with knowledge.database.connection() as connection:
        return record_call(connection, call)


def llm_statistics(
    knowledge: Opened, collections: Sequence[str] | str | None = None, *, since: timedelta | None = None
) -> list[CallStatistics]:
    """Return the sums of the logged calls of language models by origin, service and model.

    Args:
        collections: only calls that asked no other collections than these names, or this name; all where None.
        since: only calls of this last time, such as `timedelta(days=7)`.

    Raises:
        QueryError: a collection does not exist.
    """
    from sourcebook.answering.logged_calls import call_statistics

    with knowledge.database.connection() as connection:
        return call_statistics(connection, checked_names(collections), age=since)


def forget_llm_calls(
    knowledge: Opened, collections: Sequence[str] | str | None = None, *, actor: str | None = None
) -> int:
    """Delete logged calls of language models; return their number.

    Args:
        collections: only calls that asked no other collections than these names, or this name; all where None.
        actor: who asks, for the audit; the account of this process by default.

    Raises:
        QueryError: a collection does not exist.
    """
    from sourcebook.admin.audit import account
    from sourcebook.answering.logged_calls import forget_calls

    with knowledge.database.connection() as connection:
        return forget_calls(connection, checked_names(collections), actor=actor or account())
