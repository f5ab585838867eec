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


class TimedValues(PlainValues):
    """Plain values with times and days among them."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values by the names of the fields; times as ISO 8601."""
        return {name: each.isoformat() if isinstance(each, date) else each for name, each in super().as_dict().items()}
