"""The face that a request comes from, in whose words messages advise."""

from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from sourcebook.contract.faces import FACE_HEADER, Face, asked_by

_CLIENTS: Final[dict[str, Face]] = {"python": "python", "command": "command"}
"""Faces that a client of the library says it is."""


class AskingFace:
    """Lets messages speak to the face that asks: REST, one of our clients over it, or the page.

    Args:
        app: the app behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_rest = scope["path"].startswith("/v1/")
        client = _CLIENTS.get(Headers(scope=scope).get(FACE_HEADER, ""))
        with asked_by((client or "rest") if is_rest else "page"):
            await self._app(scope, receive, send)
