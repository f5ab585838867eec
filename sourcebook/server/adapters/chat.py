"""OpenAI's protocol of chat completions over `ask`: collections are models, and answers have citations."""

import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any, Final, Literal
from uuid import uuid4

import pydantic_core
from fastapi import APIRouter, Path, Request
from fastapi.routing import APIRoute
from fastapi.sse import KEEPALIVE_COMMENT
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from sourcebook.contract.answers import Answer, AnswerText, AskEvent
from sourcebook.contract.ask_events import AskEvents
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.answers import answering_collections
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.adapters.chat_answers import Chunks, completion_of
from sourcebook.server.adapters.chat_messages import ChatWanted
from sourcebook.server.adapters.openai_errors import ParameterError, problem_as_error
from sourcebook.server.asking import answer_of, answer_to_failure, collections_to_ask, each_event, in_a_thread
from sourcebook.server.visibility import known_collections
from sourcebook.server.work_events import EventStream

_ALL: Final = "sourcebook"
"""Name of the model that answers from every collection with settings of answering; and beginning of the others."""
_DONE: Final = b"data: [DONE]\n\n"
_EVENT: Final = {"type": "object", "description": "A chunk, `chat.completion.chunk`, and `[DONE]` at the end."}


class _OpenAIRoute(APIRoute):
    """A route whose refusals name the parameter that is wrong."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of a request."""
        handle = super().get_route_handler()

        async def handle_as_openai(request: Request) -> Response:
            try:
                return await handle(request)
            except ParameterError as error:
                return JSONResponse(error.body, error.status)

        return handle_as_openai


class ChatMessage(BaseModel):
    """The answer, or the sentence of a refusal."""

    role: Literal["assistant"]
    content: str
    refusal: str | None
    annotations: list[dict[str, Any]] = Field(description="`url_citation` of each mark in the text.")


class ChatChoice(BaseModel):
    """The one answer."""

    index: int
    message: ChatMessage
    finish_reason: str = Field(description="`stop`, `length` or `content_filter`.")
    logprobs: None


class ChatUsage(BaseModel):
    """Tokens of all requests to the model."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(BaseModel):
    """An answer with citations."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage | None
    sources: list[dict[str, Any]] = Field(description="An extension: cited passages, as Open WebUI shows sources.")


class ListedModel(BaseModel):
    """A collection, or all of them, as a model."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "sourcebook"


class ListedModels(BaseModel):
    """Models that the caller may ask."""

    object: Literal["list"] = "list"
    data: list[ListedModel]


router = APIRouter(tags=["adapters"], route_class=_OpenAIRoute)


@router.get("/models", operation_id="list_models")
def list_models(knowledge: Knowledge, grant: Reader) -> ListedModels:
    """Return the models of the caller: `sourcebook`, and one for each collection that names a language model."""
    return ListedModels(data=[ListedModel(id=name) for name in _models(knowledge, grant)])


@router.get("/models/{model:path}", operation_id="get_model")
def get_model(model: Annotated[str, Path(examples=[_ALL])], knowledge: Knowledge, grant: Reader) -> ListedModel:
    """Return one model."""
    _collection_of(knowledge, grant, model)
    return ListedModel(id=model)


@router.post(
    "/chat/completions",
    response_model=ChatCompletion,
    operation_id="chat_completions",
    responses={200: {"content": {EventStream.media_type: {"schema": _EVENT}}, "description": "The answer."}},
)
async def chat_completions(wanted: ChatWanted, request: Request, knowledge: Knowledge, grant: Reader) -> Response:
    """Return an answer from what the key may see, in OpenAI's protocol; its citations are annotations."""
    wanted.check()
    question, options = wanted.asked()
    request.state.sent = [wanted.model, question]
    events = await in_a_thread(partial(_events, knowledge, grant, wanted.model, question, options))
    common = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time.time()), "model": wanted.model}
    if wanted.stream:
        first = await in_a_thread(partial(next, events))  # what is wrong with the question is no event
        with_usage = wanted.stream_options is not None and bool(wanted.stream_options.include_usage)
        return EventStream(_stream(events, first, Chunks(common, with_usage=with_usage), request))
    answer = await answer_of(events, request)
    if isinstance(answer, Response):
        return answer
    return Response(pydantic_core.to_json(completion_of(answer, common)), media_type="application/json")


def _events(knowledge: KnowledgeBase, grant: Grant, model: str, question: str, options: dict[str, Any]) -> AskEvents:
    named = _collection_of(knowledge, grant, model)
    collections = collections_to_ask(knowledge, grant, [named] if named else None)
    return knowledge.ask_stream(question, collections, **options)


async def _stream(events: AskEvents, first: AskEvent, chunks: Chunks, request: Request) -> AsyncIterator[bytes]:
    yield _event(chunks.first())
    try:
        async with aclosing(each_event(events, first)) as told:
            async for event in told:
                if event is None:
                    yield KEEPALIVE_COMMENT
                elif isinstance(event, AnswerText):
                    yield _event(chunks.of_text(event))
                elif isinstance(event, Answer):
                    for chunk in chunks.of_answer(event):
                        yield _event(chunk)
    except Exception as error:  # noqa: BLE001 - the status has been sent: the client gets every error as an event
        yield _event(problem_as_error(bytes((await answer_to_failure(request, error)).body)))
        return
    yield _DONE


def _event(chunk: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"


def _models(knowledge: KnowledgeBase, grant: Grant) -> list[str]:
    models = answering_collections(knowledge)
    names = [name for name in known_collections(knowledge, grant) if name in models]
    return [_ALL, *(f"{_ALL}/{name}" for name in names)] if names else []


def _collection_of(knowledge: KnowledgeBase, grant: Grant, model: str) -> str | None:
    """Return the collection that a model is; None for that of all of them.

    Raises:
        ParameterError: there is no such model for the caller.
    """
    known = _models(knowledge, grant)
    for name in (model, f"{_ALL}/{model}"):
        if name in known:
            return None if name == _ALL else name.removeprefix(f"{_ALL}/")
    raise ParameterError(
        "there is no such model: GET /v1/models lists those that there are", "model", "model_not_found", 404
    )
