"""Texts and values as PostgreSQL can hold them: without NUL, half characters, and numbers that JSON does not have."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sourcebook.model.document import JsonValue

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_LONGEST_NUMBER: Final = 1023
"""Bits of a whole number; readers of JSON that have one kind of number hold none of more."""
_DEEPEST: Final = 100
"""Lists and objects within each other."""
_TOO_DEEP: Final = "…"
"""Stands for what is deeper."""


def is_storable(text: str) -> bool:
    """Return whether a text has neither NUL nor half characters (lone surrogates)."""
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def storable_text(text: str) -> str:
    """Return a text with U+FFFD, the sign of a lost character, in place of each character that cannot be stored."""
    return text if is_storable(text) else _UNSTORABLE.sub("\ufffd", text)


def storable_value(value: Any, depth: int = _DEEPEST) -> JsonValue:
    """Return a value as one that JSON and its readers have; a number that they lack becomes a text.

    Args:
        value: anything that a reader found.
        depth: lists and objects that may be within it.
    """
    match value:
        case None | bool():
            return value
        case str():
            return storable_text(value)
        case int():
            return value if value.bit_length() <= _LONGEST_NUMBER else hex(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case Mapping() | list() | tuple() if depth == 0:
            return _TOO_DEEP
        case Mapping():
            return {storable_text(str(name)): storable_value(held, depth - 1) for name, held in value.items()}
        case list() | tuple():
            return [storable_value(held, depth - 1) for held in value]
        case _:
            return storable_text(str(value))


def storable_mapping(values: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return metadata with values that can be stored."""
    return {storable_text(str(name)): storable_value(held) for name, held in values.items()}


def count_unstorable(texts: Sequence[str]) -> int:
    """Return the number of characters that cannot be stored."""
    return sum(len(_UNSTORABLE.findall(text)) for text in texts if not is_storable(text))
