"""A base for what a request passes on its way to the routes."""

from starlette.types import ASGIApp, Receive, Scope, Send


class HttpLayer:
    """Handles requests of HTTP; what else the server sends goes by.

    Args:
        app: the app behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle what the server sends."""
        await (self.handle if scope["type"] == "http" else self._app)(scope, receive, send)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        raise NotImplementedError
