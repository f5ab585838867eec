"""Headers that confine what a browser does with an answer."""

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Content security policy: scripts and styles from files of this server alone, nothing from elsewhere."""
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
FRAMED: Final = "sourcebook.framed"
"""Key in the scope of a request: whether pages of other sites may show the answer in a frame, as its policy says."""


class SecurityHeaders:
    """Adds the headers to every answer.

    Args:
        app: the app behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""

        async def send_confined(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    if name != "X-Frame-Options" or not scope.get(FRAMED):
                        headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_confined if scope["type"] == "http" else send)
