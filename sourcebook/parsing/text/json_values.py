"""Metadata of any format as plain JSON values that Postgres can store."""

import datetime as dt
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from sourcebook.model.document import JsonValue
from sourcebook.model.storable import storable_value
from sourcebook.parsing.text.decode import clean

_MOST_VALUES = 10_000
"""Values above which metadata is refused."""
_MOST_CHARACTERS = 10_000
"""Characters to which a text is cut."""


class MetadataTooLargeError(ValueError):
    """Metadata holds more values than a document's description plausibly has (YAML aliases can multiply them)."""


def json_mapping(values: Mapping[Any, object]) -> dict[str, JsonValue]:
    """Return a mapping's entries as JSON values under text keys.

    Raises:
        MetadataTooLargeError: `values` holds more than 10,000 values.
    """
    converter = _Converter()
    return {clean(str(key)): converter.convert(value) for key, value in values.items()}


class _Converter:
    def __init__(self) -> None:
        self._count = 0

    def convert(self, value: object) -> JsonValue:
        self._count += 1
        if self._count > _MOST_VALUES:
            raise MetadataTooLargeError
        match value:
            case None | bool() | int() | float():
                return storable_value(value)
            case str():
                return clean(value)[:_MOST_CHARACTERS]
            case dt.date() | dt.time():
                return value.isoformat()
            case Mapping():
                return {clean(str(key)): self.convert(item) for key, item in value.items()}
            case bytes() | bytearray():
                return None
            case Sequence() | AbstractSet():
                return [self.convert(item) for item in value]
            case _:
                return clean(str(value))[:_MOST_CHARACTERS]
