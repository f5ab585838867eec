"""A limit for the bodies of requests: a larger one is refused before it is read."""

from typing import Final

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sourcebook.server.problems import problem

MOST_BYTES: Final = 1_000_000
"""Bytes of a body; the longest query with every option has a twentieth of it."""


class BodyLimit:
    """Refuses larger bodies with 413: by their stated length at once, otherwise when they exceed it.

    Args:
        app: the app behind it.
        most: the most bytes of a body.
    """

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        stated = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        refused = problem(413, f"the body has more than {self._most:,} bytes")
        if not stated.isdigit() or int(stated) > self._most:
            await refused(scope, receive, send)
            return
        read = 0

        async def receive_some() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                raise HTTPException(413)
            return message

        await self._app(scope, receive_some, send)
