"""The MCP server over streamable HTTP: one endpoint of the app, behind the same keys and grants.

Every request stands alone: it brings its key, is answered with JSON, and leaves no session behind.
"""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

import anyio.to_thread
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.access import grant_of
from sourcebook.server.mcp.protocol import Context, make_server
from sourcebook.server.problems import ForbiddenError

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
        server = make_server(
            lambda: knowledge, _grant_in, is_local=False, rerankers=rerankers, chatgpt=chatgpt, version=version
        )
        self._new_manager: Callable[[], StreamableHTTPSessionManager] = lambda: StreamableHTTPSessionManager(
            server, json_response=True, stateless=True
        )
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests as long as the block runs."""
        self._manager = self._new_manager()
        async with self._manager.run():
            yield

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer a request.

        Raises:
            NoAccessError: it has no valid key where one is needed.
            ForbiddenError: the key may not read, or a page of another site sent the request.
        """
        request = Request(scope)
        _check_origin(request)
        grant = await anyio.to_thread.run_sync(grant_of, request)
        if not grant.allows("read"):
            raise ForbiddenError("the key does not allow this: it needs the scope read")
        scope[_GRANT] = grant
        if self._manager is None:
            raise RuntimeError("the app does not run: serve it with its lifespan")
        await self._manager.handle_request(scope, receive, send)


def _grant_in(context: Context) -> Grant:
    request: Request = context.request  # type: ignore[assignment] # every request came over HTTP
    grant: Grant = request.scope[_GRANT]
    return grant


def _check_origin(request: Request) -> None:
    """Refuse what a page of another site sends: a browser names the page's site in `Origin`."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise ForbiddenError("pages of other sites may not ask")
