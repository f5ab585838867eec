"""Messages between a server's processes and the one that watches them, over a pipe for each."""

from collections.abc import Mapping
from dataclasses import dataclass

from sourcebook.database.location import DatabaseLocation
from sourcebook.server.serve_settings import ServeSettings
from sourcebook.telemetry.measurements import Part


@dataclass(frozen=True, slots=True)
class Setup:
    """First message to a process: its part."""

    number: int
    """Place among the processes, from 1 on; the one that takes the place of another has its number."""
    listening: int
    """Descriptor of the socket that listens."""
    limits: int
    """Descriptor of the memory that limits are counted in."""
    location: DatabaseLocation
    max_connections: int
    settings: ServeSettings


@dataclass(frozen=True, slots=True)
class Ready:
    """Word of a process that it answers requests."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Reason for which a process cannot serve."""

    reason: str


@dataclass(frozen=True, slots=True)
class Count:
    """Question to a process for its counters."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Counters of a process since it began."""

    totals: Mapping[Part, float]


@dataclass(frozen=True, slots=True)
class Asked:
    """Question of a process for the counters of all of them, with its own."""

    number: int
    totals: Mapping[Part, float]


@dataclass(frozen=True, slots=True)
class Sums:
    """Answer to a process: the counters of all of them, also of those that have ended."""

    number: int
    totals: Mapping[Part, float]
