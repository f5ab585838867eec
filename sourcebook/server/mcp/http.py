"""The MCP server over streamable HTTP: one endpoint of the app, behind the same keys and grants.

Every request stands alone: it brings its key, and leaves no session behind. It is answered with JSON, or with a stream
of events where it asks for progress. The SDK, whose import takes most of a second, is loaded by the first request:
other callers of the app do not wait for it.
"""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import pydantic_core
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Send
from starlette.types import Scope as AsgiScope

from sourcebook.errors import MissingDependencyError
from sourcebook.installation import install_command
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.access import grant_of
from sourcebook.server.identity.askers import knowledge_for
from sourcebook.server.problems import ForbiddenError

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from sourcebook.server.mcp.protocol import Context

PATH: Final = "/mcp"
METHODS: Final = ["POST"]
"""Methods of HTTP; there is nothing to listen to with GET, and no session to end with DELETE."""
_NO_MESSAGE: Final = {
    "jsonrpc": "2.0",
    "id": None,
    "error": {"code": -32602, "message": "the body is no message of JSON-RPC 2.0: one object with jsonrpc and method"},
}
"""Answer to JSON that is none; the SDK's own repeats what was sent."""
_PROGRESS_TOKEN: Final = b'"progressToken"'
_GRANT: Final = "sourcebook.grant"


class McpEndpoint:
    """The endpoint of the protocol in the app.

    Args:
        knowledge: the knowledge base.
        rerankers: names and folders of the only models that a search may rerank with.
        chatgpt: whether to offer `search` and `fetch` in ChatGPT's shape as well.
        version: the version of Sourcebook.
        all_options: whether the list of tools describes every argument and answer.
    """

    def __init__(
        self,
        knowledge: KnowledgeBase,
        *,
        rerankers: Collection[str],
        chatgpt: bool,
        version: str,
        all_options: bool = False,
    ) -> None:
        self._knowledge, self._all_options = knowledge, all_options
        self._rerankers, self._chatgpt, self._version = rerankers, chatgpt, version
        self._plain: StreamableHTTPSessionManager | None = None
        self._streaming: StreamableHTTPSessionManager | None = None
        self._is_running = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests as long as the block runs."""
        self._wanted, self._ready = anyio.Event(), anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run_once_wanted)
            self._is_running = True
            try:
                yield
            finally:
                self._is_running = False
                tasks.cancel_scope.cancel()

    async def _run_once_wanted(self) -> None:
        """Load the SDK when the first request waits, and keep its server until the app ends, in one task."""
        await self._wanted.wait()
        try:
            plain, streaming = await anyio.to_thread.run_sync(self._new_managers)
        except ImportError:
            self._ready.set()  # each request says that the package is missing
            return
        self._plain, self._streaming = plain, streaming
        async with plain.run(), streaming.run():
            self._ready.set()
            await anyio.sleep_forever()

    def _new_managers(self) -> "tuple[StreamableHTTPSessionManager, StreamableHTTPSessionManager]":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from sourcebook.server.mcp.protocol import make_server

        server = make_server(
            lambda grant: knowledge_for(grant.asker, self._knowledge),
            _grant_in,
            is_local=False,
            rerankers=self._rerankers,
            chatgpt=self._chatgpt,
            all_options=self._all_options,
            version=self._version,
        )
        plain, streaming = (
            StreamableHTTPSessionManager(server, json_response=is_plain, stateless=True) for is_plain in (True, False)
        )
        return plain, streaming

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer a request.

        Raises:
            NoAccessError: it has no valid key where one is needed.
            MissingDependencyError: the SDK is not installed.
            ForbiddenError: the key may not read, or a page of another site sent the request.
        """
        request = Request(scope)
        _check_origin(request)
        grant = await anyio.to_thread.run_sync(grant_of, request)
        if not grant.allows("read"):
            raise ForbiddenError("the key does not allow this: it needs the scope read")
        scope[_GRANT] = grant
        if not self._is_running:
            raise RuntimeError("the app does not run: serve it with its lifespan")
        self._wanted.set()
        await self._ready.wait()
        if self._plain is None or self._streaming is None:
            raise MissingDependencyError(f"mcp is not installed: run  {install_command('server')}")
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
            return
        if not _is_message(request, body):
            await JSONResponse(_NO_MESSAGE, 400)(scope, receive, send)
            return
        manager = self._streaming if _PROGRESS_TOKEN in body else self._plain
        await manager.handle_request(_with_bare_headers(scope), _once_more(body, receive), send)


def _is_message(request: Request, body: bytes) -> bool:
    """Return whether a body is a message, or one that the SDK refuses without repeating it.

    That is JSON that cannot be read, and whatever comes by the protocol since 2026-07-28.
    """
    from mcp.types import jsonrpc_message_adapter
    from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

    version = request.headers.get("mcp-protocol-version", "").strip()
    if version and version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return True
    try:
        message = pydantic_core.from_json(body)
    except ValueError:
        return True
    try:
        jsonrpc_message_adapter.validate_python(message, by_name=False)
    except pydantic_core.ValidationError:
        return False
    return True


def _once_more(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read, and then what else comes."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return messages.pop() if messages else await receive()

    return give


def _with_bare_headers(scope: AsgiScope) -> AsgiScope:
    """Return a request whose header values have no white space around them, which is no part of them (RFC 9110, 5.5).

    httptools leaves it after a value, and the SDK compares values with what the body says.
    """
    return {**scope, "headers": [(name, value.strip(b" \t")) for name, value in scope["headers"]]}


def _grant_in(context: "Context") -> Grant:
    request: Request = context.request  # type: ignore[assignment] # every request came over HTTP
    grant: Grant = request.scope[_GRANT]
    return grant


def _check_origin(request: Request) -> None:
    """Refuse what a page of another site sends: a browser names the page's site in `Origin`."""
    origin = request.headers.get("origin")
    if origin is None or origin in request.app.state.origins:
        return
    if urlsplit(origin).netloc != request.headers.get("host"):
        raise ForbiddenError("pages of other sites may not ask")
