"""Answers to browsers about pages of other sites (CORS): for keys of pages alone, each origin by its name."""

from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sourcebook.errors import DatabaseError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.operations.access_keys import is_origin_of_a_key
from sourcebook.server.access import address_of
from sourcebook.server.problems import TooManyRequestsError
from sourcebook.server.rate_limits import RateLimits
from sourcebook.server.widget.public_keys import ALLOWED

FOLDER: Final = "/widget/"
"""Beginning of the paths that pages of other sites may ask."""
_METHOD: Final = "POST"
_HEADERS: Final = frozenset({"authorization", "content-type"})
"""Headers that a page may send, beside those that every page may."""
STRANGERS: Final = 600
"""Preflights and frames a minute from one address: each asks the database."""
_TOLD: Final = {
    "Access-Control-Allow-Methods": _METHOD,
    "Access-Control-Allow-Headers": ", ".join(sorted(_HEADERS)),
    "Access-Control-Max-Age": "600",
}


class WidgetOrigins:
    """Answers preflights of the widget's routes, and names in their answers the origin that may read them.

    Args:
        app: the app behind it.
        knowledge: the knowledge base, which has the keys.
        limits: the limits of the server.
    """

    def __init__(self, app: ASGIApp, knowledge: KnowledgeBase, limits: RateLimits) -> None:
        self._app, self._knowledge, self._limits = app, knowledge, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or not scope["path"].startswith(FOLDER):
            await self._app(scope, receive, send)
            return

        async def send_named(message: Message) -> None:
            if message["type"] == "http.response.start":
                _name_origin(MutableHeaders(scope=message), scope.get(ALLOWED))
            await send(message)

        if scope["method"] == "OPTIONS":
            answer = await self._preflight(Request(scope))
            await answer(scope, receive, send_named)
        else:
            await self._app(scope, receive, send_named)

    async def _preflight(self, request: Request) -> Response:
        origin = request.headers.get("origin", "")
        if not _is_asked_for(request.headers):
            return Response(status_code=403)
        try:
            self._limits.admit_from(b"preflight", address_of(request), STRANGERS)
            is_known = await run_in_threadpool(is_origin_of_a_key, self._knowledge, origin)
        except TooManyRequestsError as error:
            return Response(status_code=429, headers={"Retry-After": str(error.seconds)})
        except DatabaseError:
            return Response(status_code=503, headers={"Retry-After": "5"})
        if not is_known:
            return Response(status_code=403)
        request.scope[ALLOWED] = origin
        return Response(status_code=204, headers=_TOLD)


def _is_asked_for(headers: Headers) -> bool:
    """Return whether a preflight asks for what a page may do."""
    wanted = {each.strip().lower() for each in headers.get("access-control-request-headers", "").split(",")} - {""}
    is_method = headers.get("access-control-request-method") == _METHOD
    return is_method and wanted <= _HEADERS and len(headers.getlist("origin")) == 1


def _name_origin(headers: MutableHeaders, origin: str | None) -> None:
    """Let the pages of one origin read an answer, or those of none; credentials are never allowed."""
    headers.add_vary_header("Origin")
    if origin is None:
        del headers["Access-Control-Allow-Origin"]
        return
    headers["Access-Control-Allow-Origin"] = origin
    headers["Access-Control-Expose-Headers"] = "Retry-After"
