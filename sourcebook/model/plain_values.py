"""Dataclasses as plain values, as commands print them with `--json`."""

from copy import deepcopy
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from functools import cache
from types import NoneType
from typing import Any, Final

_ATOMS: Final = frozenset({NoneType, bool, int, float, str, bytes, date, datetime})


def as_plain(value: Any) -> Any:
    """Return a copy with mappings in place of dataclasses, as `dataclasses.asdict` does in five times as long."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is tuple or kind is list:
        return kind(map(as_plain, value)) if value else kind()
    if kind is dict:
        return {name: as_plain(each) for name, each in value.items()}
    if is_dataclass(kind):
        return {name: as_plain(getattr(value, name)) for name in _names(kind)}
    return deepcopy(value)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


class PlainValues:
    """A dataclass whose fields are plain values, or dataclasses of them."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values by the names of the fields."""
        found: dict[str, Any] = as_plain(self)
        return found


class TimedValues:
    """A dataclass whose fields are plain values, times and days, or dataclasses of plain values."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values by the names of the fields; times as ISO 8601."""
        values = as_plain(self)
        return {name: each.isoformat() if isinstance(each, date) else each for name, each in values.items()}
