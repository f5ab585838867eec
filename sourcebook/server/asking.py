"""Questions to a language model on behalf of clients, who wait in threads of their own and may leave."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Final, TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from fastapi import Request
from starlette.responses import Response

from sourcebook.contract.answers import Answer, AskEvent
from sourcebook.contract.ask_events import AskEvents
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.model.problem_types import ProblemType
from sourcebook.operations.answers import answering_collections
from sourcebook.providers.failures import ProviderError
from sourcebook.server.problems import answer_to, problem
from sourcebook.server.visibility import NotFoundError, known_collections, seen_collections
from sourcebook.server.work_events import SECONDS_BETWEEN_SIGNS

LEFT: Final = 499
"""Status of an answer to a client that has left, for the log of requests."""
_FAILS: Final = "the server of the language model refuses or fails; the log of this server says why"
_AT_ONCE: Final = CapacityLimiter(16)
"""Questions that wait for a model at the same time, beside the threads of all other requests."""
SECONDS_BETWEEN_LOOKS: Final = 1.0
"""Seconds after which it is looked whether the client of a whole answer is still there."""
Result = TypeVar("Result")
_log = logging.getLogger(__name__)


def collections_to_ask(knowledge: KnowledgeBase, grant: Grant, named: list[str] | str | None) -> list[str] | None:
    """Return the collections that a question is about; of a caller who names none, those that have a model.

    Raises:
        NotFoundError: a collection does not exist for the caller, or none of the caller's has a model.
    """
    names = [named] if isinstance(named, str) else named
    collections = seen_collections(knowledge, grant, names)
    if not names and (collections is not None or grant.asker.principals is not None):
        known = set(answering_collections(knowledge))
        collections = [name for name in known_collections(knowledge, grant) if name in known]
        if not collections:
            raise NotFoundError("there is no collection that names a language model")
    return collections


async def answer_of(events: AskEvents, request: Request) -> Answer | Response:
    """Return the answer, or what a failed or left request is told; who leaves ends the request to the model."""
    waiting = asyncio.ensure_future(in_a_thread(lambda: list(events)[-1]))
    has_left = False
    while not (await asyncio.wait([waiting], timeout=SECONDS_BETWEEN_LOOKS))[0]:
        if not has_left and await request.is_disconnected():
            has_left = True
            end(events)
    try:
        found = waiting.result()
    except ProviderError as error:
        return Response(status_code=LEFT) if has_left else failure(error)
    assert isinstance(found, Answer)  # noqa: S101 - for the type checker
    return found


async def each_event(events: AskEvents, first: AskEvent) -> AsyncGenerator[AskEvent | None]:
    """Yield the events of an answer; None, as a sign of life, where the model takes its time."""
    event: AskEvent | None = first
    try:
        while event is not None:
            yield event
            waiting = asyncio.ensure_future(in_a_thread(partial(next, events, None)))
            waiting.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # also if nobody waits on
            while not (await asyncio.wait([waiting], timeout=SECONDS_BETWEEN_SIGNS))[0]:
                yield None
            event = waiting.result()
    finally:
        end(events)


def end(events: AskEvents) -> None:
    """End the request to the model, beside the threads of questions, which may all be taken."""
    asyncio.get_running_loop().run_in_executor(None, events.close)


async def in_a_thread(function: Callable[[], Result]) -> Result:
    """Run a function in a thread for questions."""
    return await anyio.to_thread.run_sync(function, limiter=_AT_ONCE)


async def answer_to_failure(request: Request, error: Exception) -> Response:
    """Return the answer to a question that failed after its first event."""
    return failure(error) if isinstance(error, ProviderError) else await answer_to(request, error)


def failure(error: ProviderError) -> Response:
    """Return the answer to a question whose model cannot be asked."""
    _log.error("a question failed: %s", error)
    return problem(503, _FAILS, kind=ProblemType.MODEL)
