"""Errors as problem details (RFC 9457), which never repeat what was sent.

A client logs what it is answered, and a page shows it: an answer that repeats a request carries markup and secrets of
somebody else there. So the sentences of the library, which name the value that is wrong, lose it here.
"""

import logging
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from sourcebook.admin.idempotent_answers import KeyInUseError, KeyReusedError
from sourcebook.database.failures import database_failure_in
from sourcebook.errors import (
    AmbiguousDocumentError,
    ChangedSettingsError,
    ConflictError,
    DatabaseBusyError,
    DatabaseError,
    GoneCollectionError,
    MissingDependencyError,
    ModelError,
    OriginalError,
    OriginalGoneError,
    QueryError,
    SettingsError,
    SourcebookError,
    TakenDocumentError,
    TooMuchWorkError,
    UnknownCollectionError,
    UnknownDocumentError,
    UnknownSourceError,
    WithheldError,
)
from sourcebook.model.problem_types import ProblemType
from sourcebook.server.request_models import place_in
from sourcebook.server.visibility import NO_COLLECTION, NotFoundError

MEDIA_TYPE: Final = "application/problem+json"
_RETRY_SECONDS: Final = 2
"""Seconds after which a client tries again where the database was busy or away."""
_SECONDS_OF_WORK: Final = 60
"""Seconds after which a client asks for work again where too much of it waited."""
_SHORT: Final = 2
"""Characters of a text up to which only its quoted form is taken out: every sentence has its letters."""
_QUOTED: Final = 40
"""Characters of a long value that the library's sentences quote."""
_MESSAGES: Final = {
    "value_error": "the value is not allowed",
    "assertion_error": "the value is not allowed",
    "string_unicode": "the text is no valid Unicode",
}
"""Sentences for errors whose own message may have the value."""
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_log = logging.getLogger(__name__)


class ProblemDetails(BaseModel):
    """The answer to a request that failed."""

    type: str = Field(default="about:blank", examples=["about:blank"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["there is no such collection"])


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the descriptions of the answers to requests that fail, by their statuses."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
    return {number: {"description": HTTPStatus(number).phrase, "content": content} for number in statuses}


def bytes_answer(media_type: str, description: str) -> dict[str, Any]:
    """Return the description of an answer of bytes; generators of clients know bytes by the plain type alone."""
    schema = {"type": "string", "format": "binary"}
    content = {kind: {"schema": schema} for kind in (media_type, "application/octet-stream")}
    return {"description": description, "content": content}


PRECONDITION_FAILED: Final = failures(412)


class NoAccessError(SourcebookError):
    """The caller has sent no valid key."""


class TokenError(NoAccessError):
    """The caller has sent a signed token that is not valid."""


class IssuerError(SourcebookError):
    """The issuer of signed tokens does not tell its keys.

    Args:
        message: the sentence.
        seconds: seconds after which it is asked again.
    """

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class ForbiddenError(SourcebookError):
    """The caller's key does not allow this."""


class CountersError(SourcebookError):
    """The counters of the other processes cannot be had."""


class TooManyRequestsError(SourcebookError):
    """The caller has used up its requests of this minute.

    Args:
        message: the sentence.
        seconds: seconds after which the next request is answered.
        headers: headers that tell the limit.
    """

    def __init__(self, message: str, seconds: int, headers: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__(message)
        self.seconds, self.headers = seconds, headers


class PreconditionError(SourcebookError):
    """The item is another one than the caller has seen."""


def problem(
    status: int, detail: str, headers: dict[str, str] | None = None, kind: ProblemType = ProblemType.PLAIN
) -> Response:
    """Return the answer to a request that failed."""
    found = ProblemDetails(type=kind, title=HTTPStatus(status).phrase, status=status, detail=detail)
    return JSONResponse(found.model_dump(), status, headers, MEDIA_TYPE)


def add_problems(app: FastAPI) -> None:
    """Answer every error of an app with problem details."""
    app.add_exception_handler(SourcebookError, answer_to)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(Exception, answer_to)


async def answer_to(request: Request, error: Exception) -> Response:
    """Return the answer to a request that an error ended."""
    error = database_failure_in(error) or error
    match error:
        case NoAccessError():
            return problem(401, str(error), {"WWW-Authenticate": _challenge(request, error)})
        case IssuerError():
            return problem(503, str(error), {"Retry-After": str(error.seconds)})
        case ForbiddenError() | WithheldError():
            return problem(403, str(error))
        case TooManyRequestsError():
            return problem(429, str(error), {"Retry-After": str(error.seconds), **error.headers})
        case NotFoundError():
            return problem(404, str(error), kind=_kind_of_missing(error))
        case KeyInUseError():
            return problem(409, str(error), {"Retry-After": "1"})
        case KeyReusedError():
            return problem(422, str(error))
        case (
            UnknownCollectionError() | GoneCollectionError()
        ):  # its own sentence names collections that the caller may not see
            return problem(404, NO_COLLECTION, kind=ProblemType.UNKNOWN_COLLECTION)
        case UnknownSourceError():
            return problem(404, str(error))
        case ChangedSettingsError() | PreconditionError():
            return problem(412, str(error))
        case TooMuchWorkError():
            return problem(429, str(error), {"Retry-After": str(_SECONDS_OF_WORK)})
        case ConflictError():
            return problem(409, str(error))
        case SettingsError():  # names fields, and no value
            return problem(400, str(error))
        case OriginalGoneError():
            return problem(410, str(error), {"Cache-Control": "no-store"})
        case OriginalError() | CountersError():
            return problem(503, str(error), {"Retry-After": str(_RETRY_SECONDS)})
        case TakenDocumentError():  # its own sentence names the collection, which the caller may not see
            return problem(400, "the document is taken from another collection and follows it: remove it there")
        case QueryError() | AmbiguousDocumentError():
            sent = [*request.path_params.values(), *request.query_params.values()]
            sent.append(getattr(request.state, "sent", None))
            ambiguous = isinstance(error, AmbiguousDocumentError)
            kind = ProblemType.AMBIGUOUS_DOCUMENT if ambiguous else ProblemType.PLAIN
            return problem(400, without_sent(str(error), sent), kind=kind)
        case UnknownDocumentError():
            return problem(404, "there is no such document", kind=ProblemType.UNKNOWN_DOCUMENT)
        case DatabaseError(is_temporary=True):
            busy = isinstance(error, DatabaseBusyError)
            kind = ProblemType.DATABASE_BUSY if busy else ProblemType.DATABASE_UNAVAILABLE
            return problem(503, error.detail, {"Retry-After": str(_RETRY_SECONDS)}, kind)
        case DatabaseError():
            _log.error("a request failed: %s", error)
            return problem(503, "the database cannot be used; the server's log says why")
        case ModelError() | MissingDependencyError():
            _log.error("a request failed: %s", error)
            return problem(
                503, "a model or a package is missing on the server; its log says which", kind=ProblemType.MODEL
            )
    _log.error("a request failed", exc_info=error)
    return problem(500, "something unexpected went wrong; the server's log says what")


def _challenge(request: Request, error: NoAccessError) -> str:
    """Return what a caller needs (RFC 6750, 3), and where agents learn whose tokens are taken (RFC 9728, 5.1)."""
    metadata = getattr(request.app.state, "resource_metadata", None)
    parts = ['Bearer realm="sourcebook"']
    parts += ['error="invalid_token"'] if isinstance(error, TokenError) else []
    parts += [f'resource_metadata="{metadata}"'] if metadata else []
    return ", ".join(parts)


def _kind_of_missing(error: Exception) -> ProblemType:
    """Return the type of the problem for what does not exist, or not for the caller."""
    if isinstance(error, UnknownDocumentError):
        return ProblemType.UNKNOWN_DOCUMENT
    return ProblemType.UNKNOWN_COLLECTION if str(error) == NO_COLLECTION else ProblemType.PLAIN


async def _on_invalid_request(_: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    said = list(dict.fromkeys(_sentence(each, error.body) for each in error.errors()))
    return problem(400 if any(each["type"] == "json_invalid" for each in error.errors()) else 422, "; ".join(said[:10]))


async def _on_http_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    details = {
        400: "the body cannot be read: its JSON is nested too deep, or has a number that is too long",
        404: "there is nothing at this address",
        405: "this address does not take this method",
        413: "the body is too large",
    }
    headers = dict(error.headers) if error.headers else None
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers = {"Allow": ", ".join(_allowed_methods(request))}
    return problem(error.status_code, details.get(error.status_code, HTTPStatus(error.status_code).phrase), headers)


def _allowed_methods(request: Request) -> list[str]:
    """Return the methods that an address takes: the routes that share it name one each."""
    routes = request.app.router.routes
    return [
        method
        for method in _METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]


def without_sent(message: str, sent: Any) -> str:
    """Return a sentence in which `(…)` stands for each text that the request held.

    Args:
        message: the sentence.
        sent: the values of the request, nested as they came.
    """
    for text in sorted(set(_texts(sent)), key=len, reverse=True):
        for shown in (repr(text), f'"{text}"', text if len(text) > _SHORT else ""):
            if shown:
                message = message.replace(shown, "(…)")
    return message


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a value, keys included, in each form that a sentence may give them."""
    if isinstance(value, str):
        yield value
        if len(value) > _QUOTED:
            yield value[:_QUOTED]
    elif isinstance(value, dict):
        for key, held in value.items():
            yield from _texts(str(key))
            yield from _texts(held)
    elif isinstance(value, list | tuple):
        for held in value:
            yield from _texts(held)


def _sentence(error: dict[str, Any], body: Any) -> str:
    """Return what is wrong with a field of a request, without its value; an unknown field is not named."""
    if error["type"] == "json_invalid":
        return "the body is no JSON"
    part, *place = error["loc"]
    if error["type"] == "extra_forbidden":
        return f"{place_in(body, place[:-1]) or part} has a field that does not exist"
    named = place_in(body, place, error["type"]) if part == "body" else ".".join(map(str, place))
    return f"{named or f'the {part}'}: {_MESSAGES.get(error['type'], error['msg'])}"
