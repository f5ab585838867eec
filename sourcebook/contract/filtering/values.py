"""Checks of the values that a filter compares with, before any of them reaches the database."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sourcebook.errors import QueryError

MOST_VALUES = 1_000
"""Values of a list, at most."""
MOST_CHARACTERS = 10_000
"""Characters of a text, at most."""
_SHOWN = 60
"""Characters of a value in an error message, at most."""

Scalar = str | int | float | bool | None


def text_of(key: str, value: object, *, allowed: str = "a text") -> str:
    """Return the value as a text that PostgreSQL can hold.

    Raises:
        QueryError: the value is not a text, is empty or too long, or has NUL or lone surrogates.
    """
    if not isinstance(value, str):
        raise QueryError(f"the filter {key} is {shown(value)}; it must be {allowed}")
    if not value:
        raise QueryError(f"the filter {key} is empty: leave it out, or give it {allowed}")
    if len(value) > MOST_CHARACTERS:
        raise QueryError(
            f"the filter {key} has a text of {len(value):,} characters; at most {MOST_CHARACTERS:,} are compared"
        )
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise QueryError(f"the filter {key} is {shown(value)}, which holds characters that no text has")
    return value


def texts_of(key: str, value: object, check: Callable[[str, object], str] = text_of) -> tuple[str, ...]:
    """Return the texts of a filter that takes one text or several, without repetition.

    Raises:
        QueryError: a value is not a text, or there are none or too many.
    """
    several: Iterable[object] = (value,) if isinstance(value, str) else list_of(key, value, "a text or a list of texts")
    return tuple(dict.fromkeys(check(key, each) for each in several))


def list_of(key: str, value: object, allowed: str) -> Sequence[object]:
    """Return the values of a list, tuple or set.

    Raises:
        QueryError: the value is none of them, is empty, or has too many values.
    """
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise QueryError(f"the filter {key} is {shown(value)}; it must be {allowed}")
    if not value:
        raise QueryError(f"the filter {key} is an empty list: leave it out, or give it {allowed}")
    if len(value) > MOST_VALUES:
        raise QueryError(f"the filter {key} lists {len(value):,} values; at most {MOST_VALUES:,} are allowed")
    return tuple(value)


def scalar_of(key: str, value: object) -> Scalar:
    """Return the value as one that metadata can hold: text, number, boolean or None.

    Raises:
        QueryError: the value has another type, or is a number that JSON cannot hold.
    """
    match value:
        case None | bool():
            return value
        case str():
            return text_of(key, value) if value else value
        case int() | float():
            return number_of(key, value)
    raise QueryError(f"the filter {key} is {shown(value)}; it must be a text, a number, true, false or null")


def number_of(key: str, value: float) -> float:
    """Return the number where it is finite.

    Raises:
        QueryError: it is infinite or NaN.
    """
    if not abs(value) <= sys.float_info.max:  # also refuses NaN
        raise QueryError(
            f"the filter {key} is {shown(value)}; a number must be finite, at most {sys.float_info.max:.0e}"
        )
    return value


def choices_of(key: str, value: Mapping[object, object], known: Sequence[str]) -> dict[str, Any]:
    """Return the mapping where all its keys are known.

    Raises:
        QueryError: a key is unknown, or there are none.
    """
    unknown = [each for each in value if each not in known]
    if unknown or not value:
        what = f"has {shown(unknown[0])}" if unknown else "is an empty mapping"
        raise QueryError(f"the filter {key} {what}; it may have {', '.join(known)}")
    return {str(each): item for each, item in value.items()}


def shown(value: object) -> str:
    """Return the value as an error message shows it, shortened where it is long."""
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of many digits"
    text = repr(value[:_SHOWN]) if isinstance(value, (str, bytes, list, tuple)) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
