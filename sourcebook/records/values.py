"""Values of the fields of records, as texts and as JSON."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any, Final

from sourcebook.model.document import JsonValue
from sourcebook.model.storable import storable_text
from sourcebook.records.record import Row

_DIGITS: Final = 300
"""Digits of the whole part from which a number is none of JSON's."""
_ABSENT: Final = ("", "0", "false", "f", "no", "n")
"""Texts of a field by which a record is not deleted."""


def value_of(row: Row, field: str) -> object:
    """Return a field of a record, also one within another: `fields.summary`; None where it is not there.

    A database without a type for JSON, or a driver that does not read it, holds the outer one as a text.
    """
    if field in row or "." not in field:
        return row.get(field)
    value: object = row
    for part in field.split("."):
        value = parsed(value)
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def parsed(value: object) -> object:
    """Return what a text of JSON holds, an object or a list; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError):
            return json.loads(value)
    return value


def mark_of(value: object) -> str | None:
    """Return the version of a record that a value of its field `updated` stands for."""
    return None if value is None else plain_text(value)


def plain_text(value: object) -> str:
    """Return a value as a text that the database holds."""
    if type(value) is int:  # most keys of large tables
        return str(value)
    match value:
        case str():
            return storable_text(value)
        case bytes() | bytearray() | memoryview():
            return storable_text(bytes(value).decode("utf-8", "replace"))
        case datetime() | date() | time():
            return value.isoformat()
        case dict() | list():
            return storable_text(json.dumps(value, ensure_ascii=False, default=str))
        case _:
            return storable_text(str(value))


def json_value(value: object) -> JsonValue:
    match value:
        case None | bool() | int():
            return value
        case Decimal() if value.is_finite() and value.adjusted() < _DIGITS:
            return int(value) if value == value.to_integral_value() else float(value)
        case float() | Decimal():
            return value if isinstance(value, float) and isfinite(value) else None
        case Mapping():
            return {str(name): json_value(held) for name, held in value.items()}
        case bytes() | bytearray() | memoryview():
            return None
        case Sequence() if not isinstance(value, str):
            return [json_value(held) for held in value]
        case _:
            return plain_text(value)


def words_of(value: object) -> list[JsonValue]:
    value = parsed(value)
    found = value.split(",") if isinstance(value, str) else value if isinstance(value, Sequence | set) else ()
    return [*dict.fromkeys(word for each in found if (word := plain_text(each).strip()))]


def is_set(value: Any) -> bool:
    if isinstance(value, bytes):
        value = value.strip(b"\0")  # MySQL's type BIT
    return plain_text(value).strip().casefold() not in _ABSENT if isinstance(value, str | bytes) else bool(value)
