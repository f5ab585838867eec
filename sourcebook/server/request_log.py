"""The log of requests: one JSON line each, and metrics. Neither has what was sent: no address, query or text."""

import json
import logging
import re
import sys
import time
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from typing import Any, Final
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sourcebook.errors import SourcebookError
from sourcebook.model.access import Grant
from sourcebook.server.access import CALLER
from sourcebook.server.http_layer import HttpLayer
from sourcebook.server.request_notes import RequestNotes, noting
from sourcebook.telemetry.log_context import log_context
from sourcebook.telemetry.measurements import REQUEST_SECONDS, REQUESTS, measurements

ID_HEADER: Final = "X-Request-Id"
"""Header of an answer with the id of its line; a caller may choose it."""
STANDARD_ERROR: Final = "-"
"""Name of the log that goes to standard error."""
_UNKNOWN: Final = "unknown"
"""Operation of a request to an address that does not exist."""
_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class RequestLogError(SourcebookError):
    """The file of the request log cannot be written."""


class RequestLog(HttpLayer):
    """Records every request once it has been answered.

    Args:
        app: the app behind it.
        lines: writes the lines; None for metrics alone.
    """

    def __init__(self, app: ASGIApp, lines: logging.Handler | None = None) -> None:
        super().__init__(app)
        self._lines = lines

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, status = time.perf_counter(), 0
        sent = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        number = sent.decode() if _ID.fullmatch(sent) else uuid4().hex[:16]

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (ID_HEADER.lower().encode(), number.encode())]}
            await send(message)

        with noting() as notes, log_context(request=number):
            try:
                await self._app(scope, receive, send_noted)
            finally:
                self._record(scope, number, notes, status, time.perf_counter() - started)

    def _record(self, scope: Scope, number: str, notes: RequestNotes, status: int, seconds: float) -> None:
        operation = notes.operation or operation_of(scope)
        outcome = "failed" if notes.has_failed else str(status or "none")
        measurements.record(REQUESTS, 1, operation, outcome)
        measurements.record(REQUEST_SECONDS, seconds, operation)
        if self._lines is None:
            return
        grant: Grant | None = scope.get(CALLER) or scope.get("state", {}).get("visitor")
        line: dict[str, Any] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "id": number,
            "key": None if grant is None else grant.actor.removeprefix("key "),
            "operation": operation,
            "collections": sorted(notes.collections),
            "milliseconds": round(seconds * 1000, 1),
            "status": status or None,
            **({"failed": True} if notes.has_failed else {}),
        }
        self._lines.handle(
            logging.LogRecord("requests", logging.INFO, "", 0, json.dumps(line, ensure_ascii=False), None, None)
        )


def opened_log(path: str) -> logging.Handler:
    """Return what writes the lines to a file, `-` for standard error.

    Each line is written whole, so that several processes share a file, which another program may rotate.

    Raises:
        RequestLogError: the file cannot be opened.
    """
    if path == STANDARD_ERROR:
        return logging.StreamHandler(sys.stderr)
    try:
        return WatchedFileHandler(path, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise RequestLogError(f"the request log {path} cannot be written: {error.strerror}") from error


def operation_of(scope: Scope) -> str:
    """Return the name of what a request asks for: the id of the operation, or the route of the page."""
    route = scope.get("route")
    if route is None:
        return "mcp" if scope["path"] == "/mcp" else _UNKNOWN
    if getattr(route, "include_in_schema", False):
        return str(getattr(route, "operation_id", None) or route.name)
    return f"{scope['method']} {route.path}"
