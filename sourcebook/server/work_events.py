"""Events of work requests: one connection of the server listens for all who follow a request.

A follower reads the row when it has changed, and waits again: there is no queue that a slow reader could fill.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import psycopg
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from sourcebook.contract.work import WorkRequest
from sourcebook.errors import DatabaseError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.operations.work import work_notifications

SECONDS_BETWEEN_SIGNS: Final = 15.0
"""Seconds without an event after which a comment shows that the stream lives."""
_SECONDS_BETWEEN_LOOKS: Final = 5.0
"""Seconds after which a row is read without a notification, which a proxy of the database may swallow."""
_SECONDS_TO_LISTEN: Final = 1.0
"""Seconds after which the listener looks whether anybody still follows a request."""
_SECONDS_WITHOUT_DATABASE: Final = 1.0
"""Seconds between two attempts while the database is away."""
_SECONDS_BETWEEN_LISTS: Final = 0.5
"""Seconds between two states of a list, which changes with each of its requests."""
_REQUEST: Final = TypeAdapter(WorkRequest)
_log = logging.getLogger(__name__)


class EventStream(StreamingResponse):
    """Server-sent events. FastAPI's own class takes a generator alone, which cannot answer 404 or 204."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], status_code: int = 200, *, cache: str = "no-cache") -> None:
        super().__init__(events, status_code, {"Cache-Control": cache, "X-Accel-Buffering": "no"})


@dataclass(eq=False, slots=True)
class _Follower:
    number: int | None
    """Id of the request; None for all of them."""
    loop: asyncio.AbstractEventLoop
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class WorkEvents:
    """Notifications of changed requests, from one connection that is open while somebody follows.

    Args:
        knowledge: the knowledge base.
    """

    def __init__(self, knowledge: KnowledgeBase) -> None:
        self._knowledge = knowledge
        self._followers: set[_Follower] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.is_over = False
        """Whether the server ends, and every stream with it."""

    @contextmanager
    def followed(self, number: int | None) -> Iterator[asyncio.Event]:
        """Give an event that is set whenever a request, or any where None, may have changed; for an event loop."""
        follower = _Follower(number, asyncio.get_running_loop())
        with self._lock:
            self._followers.add(follower)
            if self._thread is None:
                self._thread = threading.Thread(target=self._listen, name="work-events", daemon=True)
                self._thread.start()
        try:
            yield follower.changed
        finally:
            with self._lock:
                self._followers.discard(follower)

    def end(self) -> None:
        """Let every stream end, in the event loop's thread or in a handler of a signal, which must wait for no lock."""
        self.is_over = True
        for each in list(self._followers):
            each.loop.call_soon_threadsafe(each.changed.set)

    def _listen(self) -> None:
        while self._is_needed():
            try:
                with work_notifications(self._knowledge) as wait:
                    self._wake(None)  # what changed before was not heard
                    while self._followers:
                        for number in wait(_SECONDS_TO_LISTEN):
                            self._wake(number)
            except (psycopg.Error, DatabaseError) as error:
                _log.warning("changes of work requests are not heard (%s); next attempt in 1 s", error)
                self._wake(None)
                time.sleep(_SECONDS_WITHOUT_DATABASE)

    def _is_needed(self) -> bool:
        """Return whether somebody follows a request; otherwise the next one who does starts another listener."""
        with self._lock:
            if not self._followers:
                self._thread = None
            return self._thread is not None

    def _wake(self, number: int | None) -> None:
        """Wake those who follow a request; everybody where it is None."""
        with self._lock:
            woken = [each for each in self._followers if number is None or each.number in (None, number)]
        for each in woken:
            try:
                each.loop.call_soon_threadsafe(each.changed.set)
            except RuntimeError:  # its loop has ended, and its stream with it
                with self._lock:
                    self._followers.discard(each)


def as_json(request: WorkRequest) -> bytes:
    """Return the event that a program reads: named by the state, with the request as JSON and its revision as id."""
    told = _REQUEST.dump_json(request).decode()
    return format_sse_event(data_str=told, event=request.state, id=str(request.revision))


async def stream(
    events: WorkEvents,
    number: int,
    look: Callable[[], WorkRequest | None],
    *,
    after: int,
    show: Callable[[WorkRequest], bytes] = as_json,
) -> AsyncIterator[bytes]:
    """Yield the changes of a request as server-sent events, from its present state to its end.

    Changes that come faster than the client reads are told as one.

    Args:
        events: the notifications.
        number: id of the request.
        look: returns the request as it is now, or None where it no longer exists for the caller; called in a thread.
        after: revision that the client has; 0 for none.
        show: returns the events that tell of a state of the request; called in a thread.
    """
    with events.followed(number) as changed:
        shown = time.monotonic()
        while not events.is_over:
            changed.clear()
            wait = _SECONDS_BETWEEN_LOOKS
            try:
                request = await run_in_threadpool(look)
            except DatabaseError:  # it comes back, or the client goes
                wait = _SECONDS_WITHOUT_DATABASE
            else:
                if request is None:
                    return
                if request.revision > after:
                    after, shown = request.revision, time.monotonic()
                    yield await run_in_threadpool(show, request)
                if request.has_ended:
                    return
            left = shown + SECONDS_BETWEEN_SIGNS - time.monotonic()
            try:
                await asyncio.wait_for(changed.wait(), min(wait, max(left, 0.05)))
            except TimeoutError:
                if time.monotonic() - shown >= SECONDS_BETWEEN_SIGNS:
                    shown = time.monotonic()
                    yield KEEPALIVE_COMMENT


async def stream_of_list(events: WorkEvents, look: Callable[[], tuple[bytes, bool] | None]) -> AsyncIterator[bytes]:
    """Yield the states of a list of requests as server-sent events, until no request of it runs or waits.

    Args:
        events: the notifications.
        look: returns the event that tells the list, and whether a request of it has not ended; None where the list
            no longer exists for the caller; called in a thread.
    """
    with events.followed(None) as changed:
        told, shown = b"", time.monotonic()
        while not events.is_over:
            changed.clear()
            with suppress(DatabaseError):  # it comes back, or the client goes
                found = await run_in_threadpool(look)
                if found is None:
                    return
                event, is_live = found
                if event != told:
                    told, shown = event, time.monotonic()
                    yield event
                if not is_live:
                    return
            await asyncio.sleep(_SECONDS_BETWEEN_LISTS)
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), _SECONDS_BETWEEN_LOOKS)
            if time.monotonic() - shown >= SECONDS_BETWEEN_SIGNS:
                shown = time.monotonic()
                yield KEEPALIVE_COMMENT
