"""Errors as sentences for a model: what is wrong with what it asked for, or why there is no answer now."""

import logging
from typing import Any, Final

from pydantic import ValidationError

from sourcebook.database.failures import database_failure_in
from sourcebook.errors import (
    AccessError,
    AmbiguousDocumentError,
    ConflictError,
    DatabaseError,
    EmptyUploadError,
    GoneCollectionError,
    QueryError,
    SourcebookError,
    UnknownCollectionError,
    UnknownDocumentError,
    UploadError,
    UploadSpaceError,
)
from sourcebook.server.mcp.catalogue import OfferedTool
from sourcebook.server.mcp.tool_schemas import OPTIONS
from sourcebook.server.request_models import place_in
from sourcebook.server.visibility import NO_COLLECTION, NotFoundError

_log = logging.getLogger(__name__)
_MOST: Final = 10
"""Mistakes that one answer names."""


def refusal(tool: OfferedTool, error: ValidationError, sent: dict[str, Any]) -> str:
    """Return what is wrong with the arguments that were sent to a tool."""
    said = []
    for each in error.errors(include_url=False, include_input=False):
        name = place_in(sent, each["loc"], each["type"])
        if name == OPTIONS and each["type"] == "extra_forbidden":
            said.append("options: it is an object with further arguments by their names")
        elif each["type"] == "extra_forbidden":
            said.append(f"there is no argument {name!r}")
        elif each["type"] == "missing":
            said.append(f"the argument {name} is missing")
        else:
            message = each["msg"].removeprefix("Value error, ")
            said.append(f"{name}: {message[:1].lower()}{message[1:]}" if name else message)
    said = list(dict.fromkeys(said))[:_MOST]
    return storable(f"{'; '.join(said)}. {tool.name} takes {', '.join(tool.arguments.model_fields)}.")


def sentence(error: Exception, *, is_local: bool) -> str:
    """Return why a request failed.

    Args:
        error: the failure.
        is_local: whether the caller is the person who may read the server's log as well.
    """
    error = database_failure_in(error) or error
    match error:
        case (
            UnknownCollectionError() | GoneCollectionError()
        ):  # its own sentence names collections that the caller may not see
            return NO_COLLECTION
        case (
            AccessError()
            | NotFoundError()
            | QueryError()
            | AmbiguousDocumentError()
            | ConflictError()
            | EmptyUploadError()
        ):
            return storable(str(error))
        case UnknownDocumentError():
            return "there is no such document"
        case DatabaseError(is_temporary=True):
            return f"{error.detail}: try again in a few seconds"
        case UploadSpaceError() if not is_local:
            _log.error("an upload failed: %s", error)
            return "there is no space for the upload on the server; nothing of it was kept"
        case UploadError() if not is_local:
            _log.error("an upload failed: %s", error)
            return "uploads cannot be stored now; the server's log says why"
        case SourcebookError():
            _log.error("a request failed: %s", error)
            if is_local:
                return storable(str(error))
            return "the database, a model or a package cannot be used on the server; its log says why"
    _log.error("a request failed", exc_info=error)
    return "something unexpected went wrong; the log of the server says what"


def storable(text: str) -> str:
    """Return a text that can be sent as UTF-8."""
    return text.encode("utf-8", "replace").decode()
