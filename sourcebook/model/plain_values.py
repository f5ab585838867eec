"""Dataclasses as plain values, as commands print them with `--json`."""

from dataclasses import asdict
from typing import Any, cast


class PlainValues:
    """A dataclass whose fields are plain values, or dataclasses of them."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values by the names of the fields."""
        return asdict(cast("Any", self))
