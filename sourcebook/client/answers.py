"""Answers of a server as the types of the library."""

from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError, create_model

from sourcebook.client.server_version import both_versions
from sourcebook.errors import DatabaseError

Answer = TypeVar("Answer")


def read(kind: type[Answer], content: bytes) -> Answer:
    """Return the body of an answer as a type of the library; fields that the type has not are left out.

    Raises:
        DatabaseError: it has another shape: a proxy or another program answered, or a server of another version.
    """
    try:
        return cast("Answer", _adapter(cast("Hashable", kind)).validate_json(content))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the answer"
        raise DatabaseError(
            f"the server's answer is none that this version reads ({place}: {first['msg']})",
            remedy=f"use one version on both sides: {both_versions()}",
        ) from None


def read_list(kind: type[Answer], content: bytes, name: str) -> list[Answer]:
    """Return the list that an answer holds under a name.

    Raises:
        DatabaseError: it has another shape.
    """
    found: list[Answer] = getattr(read(_answer_with(cast("Hashable", kind), name), content), name)
    return found


@cache
def _answer_with(kind: Hashable, name: str) -> type[BaseModel]:
    """Return the type of an answer with one list that is read."""
    return create_model("Answer", **{name: (list[cast("Any", kind)], ...)})  # type: ignore[call-overload,misc,no-any-return]


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("Any", kind))
