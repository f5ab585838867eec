"""Headers that confine what a browser does with an answer."""

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from sourcebook.server.http_layer import HttpLayer

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


class SecurityHeaders(HttpLayer):
    """Adds the headers to every answer."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def send_confined(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    if name != "X-Frame-Options" or not scope.get(FRAMED):
                        headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_confined)
