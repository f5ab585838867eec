"""The route that asks a language model, with its answer whole or as server-sent events."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import Final

import pydantic_core
from fastapi import APIRouter, Request
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic import ConfigDict, Field, StrictBool
from starlette.responses import Response

from sourcebook.contract.answers import Answer, AnswerText, AskEvent, ToolUse
from sourcebook.contract.ask_events import AskEvents
from sourcebook.contract.asking import AskRequest
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.asking import answer_of, answer_to_failure, collections_to_ask, each_event, in_a_thread
from sourcebook.server.request_models import Carried, carrying
from sourcebook.server.work_events import EventStream

router = APIRouter(tags=["search"])
_NAMES: Final = {ToolUse: "tool_use", AnswerText: "text", Answer: "answer"}
_ERROR: Final = "error"
_EVENT: Final = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"type": "string", "enum": [*_NAMES.values(), _ERROR]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}


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
    events = await in_a_thread(partial(_events, knowledge, grant, asked))
    if asked.stream:
        first = await in_a_thread(partial(next, events))  # what is wrong with the question is no event
        return EventStream(_stream(events, first, request))
    answer = await answer_of(events, request)
    return answer if isinstance(answer, Response) else Response(_as_json(answer), media_type="application/json")


def _events(knowledge: KnowledgeBase, grant: Grant, asked: AskQuery) -> AskEvents:
    collections = collections_to_ask(knowledge, grant, asked.collections)
    options = asked.options() | {"history": [each.model_dump() for each in asked.history]}
    del options["question"], options["collections"]
    return knowledge.ask_stream(asked.question, collections, owner=grant.identity, **options)


async def _stream(events: AskEvents, first: AskEvent, request: Request) -> AsyncIterator[bytes]:
    try:
        async with aclosing(each_event(events, first)) as told:
            async for event in told:
                if event is None:
                    yield KEEPALIVE_COMMENT
                else:
                    yield format_sse_event(event=_NAMES[type(event)], data_str=_as_json(event).decode())
    except Exception as error:  # noqa: BLE001 - the status has been sent: the client gets every error as an event
        answer = await answer_to_failure(request, error)
        yield format_sse_event(event=_ERROR, data_str=bytes(answer.body).decode())


def _as_json(event: AskEvent) -> bytes:
    return pydantic_core.to_json(event, inf_nan_mode="null")
