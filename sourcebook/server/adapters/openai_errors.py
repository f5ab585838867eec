"""Errors as OpenAI's clients know them, on the paths of its protocol: an object `error` with sentence and code."""

import json
import re
from typing import Any, Final

from pydantic import BaseModel, Field
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from sourcebook.errors import SourcebookError
from sourcebook.server.http_layer import HttpLayer
from sourcebook.server.problems import MEDIA_TYPE

_PATHS: Final = re.compile(r"/v1/(?:chat/completions|embeddings|models(?:/.*)?)")
_REQUEST: Final = "invalid_request_error"
_KINDS: Final[dict[int, tuple[str, str | None]]] = {
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", "insufficient_permissions"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    503: ("server_error", "service_unavailable"),
}
"""Type and code by the status."""
_FIELD: Final = re.compile(r"([a-z_]+(?:\.[\w-]+)*): ")
"""Name of a field at the beginning of a sentence about it."""


class OpenAIErrorDetails(BaseModel):
    """Details of an error."""

    message: str
    type: str = Field(examples=[_REQUEST])
    param: str | None = Field(default=None, description="The parameter that is wrong, where one is.")
    code: str | None = None


class OpenAIError(BaseModel):
    """The answer to a request of OpenAI's protocol that failed."""

    error: OpenAIErrorDetails


FAILURES: Final[dict[int | str, dict[str, Any]]] = {
    number: {"model": OpenAIError, "description": "`error.message` says what is wrong, and what to do."}
    for number in (400, 401, 403, 404, 413, 422, 429, 503)
}
"""Descriptions of the answers to requests that fail."""


class ParameterError(SourcebookError):
    """A parameter of a request is not allowed.

    Args:
        message: the sentence.
        param: name of the parameter.
        code: OpenAI's code, where it has one.
        status: the status.
    """

    def __init__(self, message: str, param: str, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.param, self.code, self.status = param, code, status

    @property
    def body(self) -> dict[str, Any]:
        """The answer."""
        return envelope(self.status, str(self), self.param, self.code)


def envelope(status: int, message: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    """Return the object of an error."""
    kind, usual = _KINDS.get(status, ("server_error" if status >= 500 else _REQUEST, None))
    told = OpenAIErrorDetails(message=message, type=kind, param=param, code=code or usual)
    return OpenAIError(error=told).model_dump()


class OpenAIErrors(HttpLayer):
    """Answers the errors of the server on the paths of OpenAI's protocol as its clients know them."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _PATHS.fullmatch(scope["path"]) is None:
            await self._app(scope, receive, send)
            return
        held: list[Message] = []
        body = bytearray()

        async def send_as_openai(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_problem(message):
                held.append(message)
            elif held:
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    content = json.dumps(problem_as_error(bytes(body))).encode()
                    await send(_with_length(held.pop(), len(content)))
                    await send({"type": "http.response.body", "body": content})
            else:
                await send(message)

        await self._app(scope, receive, send_as_openai)


def problem_as_error(body: bytes) -> dict[str, Any]:
    """Return problem details as an error of OpenAI's protocol."""
    told = json.loads(body)
    named = _FIELD.match(told["detail"])
    is_about_field = told["status"] in {400, 422} and named is not None
    return envelope(told["status"], told["detail"], named[1] if is_about_field and named else None)


def _is_problem(message: Message) -> bool:
    kind: bytes = dict(message["headers"]).get(b"content-type", b"")
    return kind.startswith(MEDIA_TYPE.encode())


def _with_length(message: Message, length: int) -> Message:
    headers = MutableHeaders(raw=list(message["headers"]))
    headers["content-type"], headers["content-length"] = "application/json", str(length)
    return {**message, "headers": headers.raw}
