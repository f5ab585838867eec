"""The MCP server over streamable HTTP: one endpoint of the app, behind the same keys and grants.

Every request stands alone: it brings its key, is answered with JSON, and leaves no session behind. The SDK, whose
import takes most of a second, is loaded by the first request: other callers of the app do not wait for it.
"""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from sourcebook.errors import MissingDependencyError
from sourcebook.installation import install_command
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.access import grant_of
from sourcebook.server.problems import ForbiddenError

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from sourcebook.server.mcp.protocol import Context

PATH: Final = "/mcp"
METHODS: Final = ["POST"]
"""Methods of HTTP; there is nothing to listen to with GET, and no session to end with DELETE."""
_GRANT: Final = "sourcebook.grant"


class McpEndpoint:
    """The endpoint of the protocol in the app.

    Args:
        knowledge: the knowledge base.
        rerankers: names and folders of the only models that a search may rerank with.
        chatgpt: whether to offer `search` and `fetch` in ChatGPT's shape as well.
        version: the version of Sourcebook.
    """

    def __init__(self, knowledge: KnowledgeBase, *, rerankers: Collection[str], chatgpt: bool, version: str) -> None:
        self._knowledge = knowledge
        self._rerankers, self._chatgpt, self._version = rerankers, chatgpt, version
        self._manager: StreamableHTTPSessionManager | None = None
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
            self._manager = await anyio.to_thread.run_sync(self._new_manager)
        except ImportError:
            self._ready.set()  # each request says that the package is missing
            return
        async with self._manager.run():
            self._ready.set()
            await anyio.sleep_forever()

    def _new_manager(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from sourcebook.server.mcp.protocol import make_server

        server = make_server(
            lambda: self._knowledge,
            _grant_in,
            is_local=False,
            rerankers=self._rerankers,
            chatgpt=self._chatgpt,
            version=self._version,
        )
        return StreamableHTTPSessionManager(server, json_response=True, stateless=True)

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
        if self._manager is None:
            raise MissingDependencyError(f"mcp is not installed: run  {install_command('server')}")
        await self._manager.handle_request(scope, receive, send)


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
