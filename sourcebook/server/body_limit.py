"""A limit for the bodies of requests: a larger one is refused before it is read."""

import os
import re
from typing import Final

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sourcebook.errors import ConfigurationError
from sourcebook.server.http_layer import HttpLayer
from sourcebook.server.problems import problem

MOST_BYTES: Final = 1_000_000
"""Bytes of a body; the longest query with every option has a twentieth of it."""


MOST_UPLOAD_BYTES: Final = 1 << 30
"""Bytes of a body that is an upload, where SOURCEBOOK_UPLOAD_LIMIT names no other number."""
UPLOADS: Final = re.compile(r"POST /v1/documents/?|PUT /v1/uploads/.*|POST /collections/[^/]+/upload", re.DOTALL)
"""Methods and paths whose bodies are uploads."""


def upload_limit() -> int:
    """Return the most bytes of an upload, from SOURCEBOOK_UPLOAD_LIMIT: a number of bytes or a size such as 2GiB.

    Raises:
        ConfigurationError: it is no size.
    """
    named = os.environ.get("SOURCEBOOK_UPLOAD_LIMIT", "").strip()
    if not named:
        return MOST_UPLOAD_BYTES
    from pydantic import TypeAdapter, ValidationError

    from sourcebook.config.field_types import ByteCount

    sizes: TypeAdapter[int] = TypeAdapter(ByteCount)
    try:
        return sizes.validate_python(int(named) if named.isdigit() else named)
    except ValidationError:
        raise ConfigurationError(
            "SOURCEBOOK_UPLOAD_LIMIT is no size: write a number of bytes, or one such as 500MB or 2GiB, up to 1TiB"
        ) from None


class BodyLimit(HttpLayer):
    """Refuses larger bodies with 413: by their stated length at once, otherwise when they exceed it.

    Args:
        app: the app behind it.
        most: the most bytes of a body.
        most_upload: the most bytes of a body that is an upload.
    """

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES, most_upload: int = MOST_UPLOAD_BYTES) -> None:
        super().__init__(app)
        self._most = most
        self._most_upload = most_upload

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        stated = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        is_upload = UPLOADS.fullmatch(f"{scope['method']} {scope['path']}") is not None
        most = self._most_upload if is_upload else self._most
        refused = problem(413, f"the body has more than {most:,} bytes")
        if not stated.isdigit() or int(stated) > most:
            await refused(scope, receive, send)
            return
        read = 0

        async def receive_some() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                raise HTTPException(413)
            return message

        await self._app(scope, receive_some, send)
