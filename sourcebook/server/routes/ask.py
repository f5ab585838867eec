"""The route that asks a language model, with its answer whole or as server-sent events."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Final, TypeVar

import anyio.to_thread
import pydantic_core
from anyio import CapacityLimiter
from fastapi import APIRouter, Request
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic import ConfigDict, Field, StrictBool
from starlette.responses import Response

from sourcebook.contract.answers import Answer, AnswerText, AskEvent, ToolUse
from sourcebook.contract.ask_events import AskEvents
from sourcebook.contract.asking import AskRequest
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.model.problem_types import ProblemType
from sourcebook.operations.answers import answering_collections
from sourcebook.providers.failures import ProviderError
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.problems import answer_to, problem
from sourcebook.server.request_models import Carried, carrying
from sourcebook.server.visibility import NotFoundError, seen_collections
from sourcebook.server.work_events import SECONDS_BETWEEN_SIGNS, EventStream

router = APIRouter(tags=["search"])
_NAMES: Final = {ToolUse: "tool_use", AnswerText: "text", Answer: "answer"}
_ERROR: Final = "error"
_LEFT: Final = 499
"""Status of an answer to a client that has left, for the log of requests."""
_FAILS: Final = "the server of the language model refuses or fails; the log of this server says why"
_EVENT: Final = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"type": "string", "enum": [*_NAMES.values(), _ERROR]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}
_AT_ONCE: Final = CapacityLimiter(16)
"""Questions that wait for a model at the same time, beside the threads of all other requests."""
_SECONDS_BETWEEN_LOOKS: Final = 1.0
"""Seconds after which it is looked whether the client of a whole answer is still there."""
Result = TypeVar("Result")
_log = logging.getLogger(__name__)


@carrying(AskRequest)
class AskQuery(Carried):
    """A question to a language model; by default to that of every collection that names one."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "How long do the batteries last?", "collections": ["handbook"]}]}
    )

    stream: StrictBool = Field(default=False, description="Whether the answer comes as server-sent events.")


@router.post(
    "/ask",
    response_model=Answer,
    operation_id="ask",
    responses={200: {"content": {EventStream.media_type: {"schema": _EVENT}}, "description": "The answer."}},
)
async def ask(asked: AskQuery, request: Request, knowledge: Knowledge, grant: Reader) -> Response:
    """Return the answer of the language model that collections name, from what the key may see, or a refusal.

    With `stream` each search is an event, each sentence whose citations hold, and at the end the answer; an error then
    is an event, too.
    """
    request.state.sent = [*asked.model_dump().values()]
    events = await _in_a_thread(partial(_events, knowledge, grant, asked))
    if asked.stream:
        first = await _in_a_thread(partial(next, events))  # what is wrong with the question is no event
        return EventStream(_stream(events, first, request))
    return await _whole(events, request)


def _events(knowledge: KnowledgeBase, grant: Grant, asked: AskQuery) -> AskEvents:
    named = [asked.collections] if isinstance(asked.collections, str) else asked.collections
    collections = seen_collections(knowledge, grant, named)
    if not named and collections is not None:
        names = set(answering_collections(knowledge))
        collections = [name for name in collections if name in names]
        if not collections:
            raise NotFoundError("there is no collection that names a language model")
    options = asked.options() | {"history": [each.model_dump() for each in asked.history]}
    del options["question"], options["collections"]
    return knowledge.ask_stream(asked.question, collections, owner=grant.identity, **options)


async def _whole(events: AskEvents, request: Request) -> Response:
    """Return the answer; where the client leaves, nobody needs it, and the model is asked no further."""
    waiting = asyncio.ensure_future(_in_a_thread(lambda: list(events)[-1]))
    has_left = False
    while not (await asyncio.wait([waiting], timeout=_SECONDS_BETWEEN_LOOKS))[0]:
        if not has_left and await request.is_disconnected():
            has_left = True
            _end(events)
    try:
        answer = waiting.result()
    except ProviderError as error:
        return Response(status_code=_LEFT) if has_left else _failure(error)
    return Response(_as_json(answer), media_type="application/json")


async def _stream(events: AskEvents, first: AskEvent, request: Request) -> AsyncIterator[bytes]:
    """Yield the events of an answer; a sign of life where the model takes its time."""
    event: AskEvent | None = first
    try:
        while event is not None:
            yield format_sse_event(event=_NAMES[type(event)], data_str=_as_json(event).decode())
            waiting = asyncio.ensure_future(_in_a_thread(partial(next, events, None)))
            waiting.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # also if nobody waits on
            while not (await asyncio.wait([waiting], timeout=SECONDS_BETWEEN_SIGNS))[0]:
                yield KEEPALIVE_COMMENT
            event = waiting.result()
    except Exception as error:  # noqa: BLE001 - the status has been sent: the client gets every error as an event
        answer = _failure(error) if isinstance(error, ProviderError) else await answer_to(request, error)
        yield format_sse_event(event=_ERROR, data_str=bytes(answer.body).decode())
    finally:
        _end(events)


def _end(events: AskEvents) -> None:
    """End the request to the model, beside the threads of questions, which may all be taken."""
    asyncio.get_running_loop().run_in_executor(None, events.close)


async def _in_a_thread(function: Callable[[], Result]) -> Result:
    return await anyio.to_thread.run_sync(function, limiter=_AT_ONCE)


def _failure(error: ProviderError) -> Response:
    _log.error("a question failed: %s", error)
    return problem(503, _FAILS, kind=ProblemType.MODEL)


def _as_json(event: AskEvent) -> bytes:
    return pydantic_core.to_json(event, inf_nan_mode="null")
