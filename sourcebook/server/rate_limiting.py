"""The limits of requests before the app: what is refused here costs no statement of the database."""

from typing import Final

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sourcebook.errors import SourcebookError
from sourcebook.server.bucket_table import Bucket
from sourcebook.server.http_layer import HttpLayer
from sourcebook.server.identity.sign_in_settings import RETURN_PATH
from sourcebook.server.problems import TooManyRequestsError
from sourcebook.server.rate_limits import BUCKET, RateLimits, key_in

_SIGN_INS: Final = (("POST", "/sign-in"), ("GET", RETURN_PATH))
"""Requests that bring a key, or the code of a provider, in another place than a header."""


class RateLimiting(HttpLayer):
    """Refuses requests above the limits with 429, and tells callers their limits in headers.

    Args:
        app: the app behind it.
        limits: the buckets of the process.
    """

    def __init__(self, app: ASGIApp, limits: RateLimits) -> None:
        super().__init__(app)
        self._limits = limits

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = next((value for name, value in scope["headers"] if name == b"authorization"), None)
        text = None if sent is None else key_in(sent)
        address = (scope.get("client") or ("",))[0]
        if text is None and (scope["method"], scope["path"]) in _SIGN_INS:
            text = b""

        refusal: TooManyRequestsError | None = None

        async def send_limits(message: Message) -> None:
            nonlocal refusal
            if message["type"] == "http.response.start":
                if message["status"] == 401 and text is not None:
                    refusal = self._limits.refuse(text, address)
                bucket: Bucket | None = scope.get(BUCKET)
                if bucket is not None:
                    told = [(name.encode(), value.encode()) for name, value in bucket.headers.items()]
                    message = {**message, "headers": [*message["headers"], *told]}
            if refusal is None:
                await send(message)

        try:
            if text is not None:
                bucket = self._limits.enter(text, address)
                if bucket is not None:
                    scope[BUCKET] = bucket
        except TooManyRequestsError as error:
            refusal = error
        else:
            await self._app(scope, receive, send_limits)
        if refusal is not None:  # as a page or a problem
            await (await scope["app"].exception_handlers[SourcebookError](Request(scope), refusal))(
                scope, receive, send
            )
