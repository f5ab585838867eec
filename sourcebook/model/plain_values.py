"""Dataclasses as plain values, as commands print them with `--json`."""

from dataclasses import asdict
from datetime import date
from typing import Any, cast


class PlainValues:
    """A dataclass whose fields are plain values, or dataclasses of them."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values by the names of the fields."""
        return asdict(cast("Any", self))


class TimedValues:
    """A dataclass whose fields are plain values, times and days, or dataclasses of plain values."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values by the names of the fields; times as ISO 8601."""
        values = asdict(cast("Any", self))
        return {name: each.isoformat() if isinstance(each, date) else each for name, each in values.items()}
