"""Answers while the database answers nobody: each request that waits is told 503 within five seconds.

A statement without an answer ends by itself (`ServerWatch`), and its request with it. But threads and connections are
few: behind those that wait for the database, others wait for a thread. So every request has a clock of its own.
"""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sourcebook.database.watch import ServerWatch
from sourcebook.errors import DatabaseUnavailableError, SourcebookError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.http_layer import HttpLayer

_SECONDS: Final = 2.5
"""Seconds without an answer to a request after which the database is looked at, and between two looks."""
_SECONDS_OF_ITS_OWN: Final = 0.5
"""Seconds in which a request may still give its own answer: a sentence for a model says more than 503."""
_NOTHING_MORE: Final[Message] = {"type": "http.disconnect"}


class Outages(HttpLayer):
    """Answers requests that wait for a database that does not answer.

    Args:
        app: the app behind it.
        knowledge: the knowledge base, whose database is watched.
    """

    def __init__(self, app: ASGIApp, knowledge: KnowledgeBase) -> None:
        super().__init__(app)
        self._knowledge = knowledge
        self._looking = ThreadPoolExecutor(1, thread_name_prefix="sourcebook-watch")

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        clock = _Clock(self._knowledge.database.watch, self._looking, scope, receive, send)
        try:
            await self._app(scope, clock.receive, clock.send)
        finally:
            clock.stop()


class _Clock:
    """The wait of one request, from the end of its body to the beginning of its answer."""

    def __init__(
        self, watch: ServerWatch, looking: ThreadPoolExecutor, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._watch, self._looking = watch, looking
        self._scope, self._receive, self._send = scope, receive, send
        self._loop = asyncio.get_running_loop()
        self._since = time.monotonic()
        self._is_reading = self._has_body = False
        self._has_begun = self._is_over = False
        self._timer = self._loop.call_later(_SECONDS, self._ring)
        self._task: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Stop the clock."""
        self._has_begun = True
        self._timer.cancel()

    async def receive(self) -> Message:
        """Receive a part of the body; the time until it comes is the client's."""
        if self._is_over:
            return _NOTHING_MORE
        if self._has_body:  # the app listens for the client's going away
            return await self._receive()
        self._is_reading = True
        message = await self._receive()
        self._is_reading, self._since = False, time.monotonic()
        self._has_body = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer; nothing where another one was sent in its place."""
        if self._is_over:
            return
        self._has_begun = True
        self._timer.cancel()
        await self._send(message)

    def _ring(self) -> None:
        waited = time.monotonic() - self._since
        if self._is_reading or waited < _SECONDS:
            self._timer = self._loop.call_later(_SECONDS if self._is_reading else _SECONDS - waited, self._ring)
        else:
            self._task = self._loop.create_task(self._look())

    async def _look(self) -> None:
        seen = await self._loop.run_in_executor(self._looking, self._watch.look)
        if seen.answers:
            if not self._has_begun:
                self._since = time.monotonic()
                self._timer = self._loop.call_later(_SECONDS, self._ring)
            return
        await asyncio.sleep(_SECONDS_OF_ITS_OWN)
        if self._has_begun:
            return
        self._is_over = True
        error = DatabaseUnavailableError("the database does not answer", remedy="see whether its server runs")
        answer = await self._scope["app"].exception_handlers[SourcebookError](Request(self._scope), error)
        await answer(self._scope, self._receive, self._send)
