"""Idempotency keys: a request that is sent again with the same `Idempotency-Key` changes nothing twice.

Around every route of `/v1` that changes something. Uploads are left out: their content says what they are.
"""

import hashlib
import logging
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Final

import anyio.to_thread
import psycopg
from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sourcebook.admin.idempotent_answers import Claim, KeptAnswer
from sourcebook.errors import SourcebookError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.operations.kept_answers import claim_key, settle_key
from sourcebook.server.access import grant_of
from sourcebook.server.problems import answer_to, problem

_METHODS: Final = frozenset({"POST", "PATCH", "DELETE"})
_READING: Final = frozenset(
    {
        *("/v1/search", "/v1/similar", "/v1/context", "/v1/diff", "/v1/ask", "/v1/facets", "/v1/documents/export"),
        *("/v1/embeddings", "/v1/chat/completions"),
    }
)
"""Routes that take a body and change nothing: a kept answer would show, unrecorded, what may be hidden by now."""
_SECRET: Final = frozenset({"/v1/keys"})
"""Routes whose answers are kept nowhere."""
LONGEST_KEY: Final = 200
_MOST_BYTES: Final = 1_000_000
"""Bytes of a request that is repeated, and of an answer that is kept, at most."""
_KEPT_HEADERS: Final = frozenset({b"content-type", b"location", b"etag"})
_log = logging.getLogger(__name__)


class Idempotency:
    """Keeps the answers of requests with an `Idempotency-Key` for a day, and answers the same requests with them.

    An answer to a request that failed is not kept: the request changed nothing, and its key can be used again.

    Args:
        app: the app behind it.
        knowledge: the knowledge base that keeps the answers.
    """

    def __init__(self, app: ASGIApp, knowledge: KnowledgeBase) -> None:
        self._app, self._knowledge = app, knowledge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        key = _key_in(scope) if scope["type"] == "http" else None
        if key is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            if not 1 <= len(key) <= LONGEST_KEY or not all(33 <= byte <= 126 for byte in key):
                answer = problem(400, f"an Idempotency-Key has 1 to {LONGEST_KEY} visible ASCII characters")
                await answer(scope, receive, send)
                return
            read = await _first_bytes(receive)
            if read is None:
                return  # the client has gone away
            is_upload = read[-1].get("more_body", False)
            body = b"".join(message.get("body", b"") for message in read)
            claimed = (
                None if is_upload else await anyio.to_thread.run_sync(partial(self._claim, request, key.decode(), body))
            )
        except HTTPException as error:
            await problem(error.status_code, "the body is too large")(scope, receive, send)
        except (SourcebookError, psycopg.Error) as error:
            await (await answer_to(request, error))(scope, receive, send)
        else:
            if claimed is None:
                await self._app(scope, _again(read, receive), send)
            elif isinstance(claimed, Claim):
                await self._run(claimed, scope, _again(read, receive), send)
            else:
                headers = {**claimed.headers, "Idempotency-Replayed": "true"}
                await Response(claimed.body, claimed.status, headers)(scope, receive, send)

    def _claim(self, request: Request, key: str, body: bytes) -> Claim | KeptAnswer:
        caller = grant_of(request).identity
        query = request.url.query
        named = f"{request.method} {request.url.path}{'?' if query else ''}{query}"
        return claim_key(self._knowledge, caller, key, named, hashlib.sha256(body).digest())

    async def _run(self, claim: Claim, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer, and keep its answer before the caller sees it."""
        held = _HeldAnswer(send)
        is_kept = False
        try:
            await self._app(scope, receive, held.send)
            answer = held.answer
            if answer is not None:
                await self._settle(claim, answer)
                is_kept = True
        finally:
            if not is_kept:
                with anyio.CancelScope(shield=True):
                    await self._settle(claim, None)
        await held.let_go()

    async def _settle(self, claim: Claim, answer: KeptAnswer | None) -> None:
        def run() -> None:
            try:
                settle_key(self._knowledge, claim, answer)
            except (SourcebookError, psycopg.Error) as error:  # the request is done: its key waits for a minute
                _log.warning("the answer to an idempotency key was not kept: %s", error)

        await anyio.to_thread.run_sync(run)


class _HeldAnswer:
    """The messages of an answer, held back until it is kept; one that is too large is passed on as it comes."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._held: list[Message] = []
        self._size = 0
        self._is_passed_on = False

    async def send(self, message: Message) -> None:
        self._held.append(message)
        self._size += len(message.get("body", b""))
        if self._is_passed_on or self._size > _MOST_BYTES:
            self._is_passed_on = True
            await self.let_go()

    async def let_go(self) -> None:
        while self._held:
            await self._send(self._held.pop(0))

    @property
    def answer(self) -> KeptAnswer | None:
        """The answer as it is kept; None where it is not: it failed, was too large, or broke off."""
        if self._is_passed_on or not self._held or self._held[-1].get("more_body", False):
            return None
        start, *bodies = self._held
        status: int = start["status"]
        if status >= 400 or not bodies:
            return None
        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in start["headers"]
            if name.lower() in _KEPT_HEADERS
        }
        return KeptAnswer(status, headers, b"".join(message.get("body", b"") for message in bodies))


def takes_key(method: str, path: str) -> bool:
    """Return whether a key has an effect on the requests of a method to a path."""
    return method in _METHODS and path.startswith("/v1/") and path not in _READING | _SECRET


def _key_in(scope: Scope) -> bytes | None:
    """Return the key of a request that may need it; None for all others."""
    if not takes_key(scope["method"], scope["path"]):
        return None
    headers = dict(scope["headers"])
    key: bytes | None = headers.get(b"idempotency-key")
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    return key if kind in {b"", b"application/json"} else None


async def _first_bytes(receive: Receive) -> list[Message] | None:
    """Return the messages of a body, those after the first megabyte left out; None where the client goes away."""
    read: list[Message] = []
    size = 0
    while not read or (read[-1].get("more_body", False) and size <= _MOST_BYTES):
        message = await receive()
        if message["type"] != "http.request":
            return None
        read.append(message)
        size += len(message.get("body", b""))
    return read


def _again(read: Sequence[Message], receive: Receive) -> Receive:
    """Return what gives the messages once more that were read, and then those that follow."""
    waiting = deque(read)

    async def receive_again() -> Message:
        return waiting.popleft() if waiting else await receive()

    return receive_again
