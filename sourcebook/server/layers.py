"""The layers around the routes, which every request passes from the outermost inwards."""

import logging
from typing import Final

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import Receive, Scope, Send

from sourcebook.contract.faces import FACE_HEADER, Face, asked_by
from sourcebook.installation import VERSION_HEADER
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.adapters.openai_errors import OpenAIErrors
from sourcebook.server.body_limit import BodyLimit, upload_limit
from sourcebook.server.http_layer import HttpLayer
from sourcebook.server.idempotency import Idempotency
from sourcebook.server.outages import Outages
from sourcebook.server.page.security_headers import SecurityHeaders
from sourcebook.server.page.translation import Languages
from sourcebook.server.rate_limiting import RateLimiting
from sourcebook.server.request_log import ID_HEADER, RequestLog
from sourcebook.server.widget.origins import WidgetOrigins

_CLIENTS: Final[dict[str, Face]] = {"python": "python", "command": "command"}
"""Faces that a client of the library says it is."""

_SENT_ACROSS: Final = (
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Last-Event-ID",
    "Mcp-Protocol-Version",
    "Mcp-Session-Id",
)
"""Headers that pages of other origins may send."""
_READ_ACROSS: Final = (
    "ETag",
    "Idempotency-Replayed",
    "Location",
    "RateLimit",
    "RateLimit-Limit",
    "RateLimit-Policy",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    VERSION_HEADER,
    ID_HEADER,
)
"""Headers that pages of other origins may read."""


class AskingFace(HttpLayer):
    """Lets messages speak to the face that asks: REST, one of our clients over it, or the page."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_rest = scope["path"].startswith("/v1/")
        client = _CLIENTS.get(Headers(scope=scope).get(FACE_HEADER, ""))
        with asked_by((client or "rest") if is_rest else "page"):
            await self._app(scope, receive, send)


def surround(app: FastAPI, knowledge: KnowledgeBase, lines: logging.Handler | None) -> None:
    """Put the layers around an app, the innermost first; `lines` writes the log of requests."""
    app.add_middleware(Idempotency, knowledge=knowledge)
    app.add_middleware(BodyLimit, most_upload=upload_limit())
    app.add_middleware(RateLimiting, limits=app.state.limits)
    app.add_middleware(Outages, knowledge=knowledge)
    app.add_middleware(OpenAIErrors)
    app.add_middleware(AskingFace)
    app.add_middleware(Languages)
    app.add_middleware(SecurityHeaders)
    if origins := app.state.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=_SENT_ACROSS,
            expose_headers=_READ_ACROSS,
        )
    app.add_middleware(WidgetOrigins, knowledge=knowledge, limits=app.state.limits)
    app.add_middleware(RequestLog, lines=lines)
