"""A read replica that searches are sent to: where it is, how far it is behind the primary, what happens without it."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final

from sourcebook.database.connecting import connection_options
from sourcebook.database.queries import queries
from sourcebook.errors import ConfigurationError, DatabaseError, DatabaseUnavailableError, ReplicaError

if TYPE_CHECKING:
    from sourcebook.database.database import Database
    from sourcebook.database.pool import ConnectionPool, StatementLimits

URL_VARIABLE: Final = "SOURCEBOOK_SEARCH_URL"
LAG_VARIABLE: Final = "SOURCEBOOK_SEARCH_LAG"
FALLBACK_VARIABLE: Final = "SOURCEBOOK_SEARCH_FALLBACK"
TOLD_SECONDS: Final = 10.0
"""Seconds behind from which results say so in a sentence."""
_FRESH: Final = 1.0
"""Seconds for which a measurement of the distance holds."""
_AWAY: Final = 5.0
"""Seconds for which a replica that failed is not asked again, where the primary takes its place."""
_LOOKS: Final = 4
_BETWEEN_LOOKS: Final = 0.05
_PLACES: Final = 512


@dataclass(frozen=True, slots=True)
class ReplicaSettings:
    """The replica as the environment names it."""

    url: str
    most_behind: float | None = None
    """Seconds behind from which it is not searched; None for no limit."""
    falls_back: bool = True
    """Whether the primary is searched in its place; otherwise the search fails."""

    @classmethod
    def find(cls) -> ReplicaSettings | None:
        """Return the settings of the environment; None where it names no replica.

        Raises:
            ConfigurationError: a variable has a value that it cannot have.
        """
        url = os.environ.get(URL_VARIABLE, "").strip()
        if not url:
            return None
        try:
            connection_options(url)
        except DatabaseError:
            raise ConfigurationError(f"{URL_VARIABLE} is no PostgreSQL URL: correct it, or unset it") from None
        fallback = os.environ.get(FALLBACK_VARIABLE, "").strip() or "primary"
        if fallback not in {"primary", "error"}:
            raise ConfigurationError(f"{FALLBACK_VARIABLE} is {fallback!r}: write primary or error")
        return cls(url, _most_behind(), fallback == "primary")


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """The state of the replica."""

    seconds_behind: float | None
    """Seconds of the primary's commits that it lacks, at most; None where it cannot be asked."""
    error: str | None = None
    """Reason why it is not searched; None where it is."""

    def __str__(self) -> str:
        """Return the state in words."""
        if self.error is not None:
            return f"not searched: {self.error}"
        return f"{_seconds(self.seconds_behind or 0.0)} behind"


class Replica:
    """The replica of a knowledge base, and the measurement of its distance. Thread-safe.

    The distance needs no clocks that agree: it is the time since the primary had written no more than the replica has
    replayed, or the age of the last replayed commit, whichever is less, both by the primary's clock. Where the primary
    does not answer, it is that age by the replica's own clock, which is the most that it can be.

    Args:
        settings: settings of the environment.
        database: database of the primary.
        limits: limits of statements.
    """

    def __init__(self, settings: ReplicaSettings, database: Database, limits: StatementLimits) -> None:
        self.settings = settings
        self._database = database
        self.pool: ConnectionPool = database.new_pool(database.pool.max_size, limits, url=settings.url)
        """Connections to the replica."""
        self._lock = Lock()
        self._places: deque[tuple[str, float]] = deque(maxlen=_PLACES)
        self._measured: tuple[float, float] | None = None
        self._failed: tuple[float, DatabaseError] | None = None

    def seconds_behind(self) -> float:
        """Return how far the replica is behind, measured within the last second.

        Raises:
            DatabaseUnavailableError: it cannot be reached, or has failed a moment ago.
            ReplicaError: the server is no replica, or is further behind than the settings allow.
        """
        with self._lock:
            now = time.monotonic()
            if self._failed is not None and now - self._failed[0] < _AWAY:
                raise self._failed[1]
            if self._measured is None or now - self._measured[0] > _FRESH:
                with failures_of_replica():
                    behind = self._measure()
                self._measured = time.monotonic(), behind
            behind = self._measured[1]
        most = self.settings.most_behind
        if most is not None and behind > most:
            raise ReplicaError(
                f"the replica is {_seconds(behind)} behind, and {LAG_VARIABLE} allows {_seconds(most)}",
                remedy="see why its replay is late, or allow more",
            )
        return behind

    def state(self) -> ReplicaState:
        """Return the state for those who look after it; asks it again also where it failed a moment ago."""
        with self._lock:
            self._failed = None
        try:
            return ReplicaState(self.seconds_behind())
        except DatabaseError as error:
            measured = self._measured if isinstance(error, ReplicaError) else None
            return ReplicaState(None if measured is None else measured[1], str(error))

    def has_failed(self, error: DatabaseError) -> None:
        """Leave the replica alone for a while, where the primary takes its place."""
        if self.settings.falls_back and not isinstance(error, ReplicaError):
            with self._lock:
                self._failed = time.monotonic(), error

    def close(self) -> None:
        """Close the connections."""
        self.pool.close()

    def _measure(self) -> float:
        for _ in range(_LOOKS):
            written = self._written()
            with self.pool.connection() as connection:
                (row,) = connection.execute(
                    queries["replayed_so_far"], {"place": None if written is None else written[0]}
                ).fetchall()
                is_replica, has_everything, committed, clock, replayed = row
                if not is_replica:
                    raise ReplicaError(
                        f"the server of {URL_VARIABLE} is no replica", remedy="name a read replica, or unset it"
                    )
                if written is None:
                    return max(float(clock) - float(committed or 0.0), 0.0)
                if has_everything:
                    return 0.0
                places = list(self._places)
                ((reached,),) = connection.execute(
                    queries["has_replayed"], {"replayed": replayed, "places": [place for place, _ in places]}
                ).fetchall()
            times = [at for (_, at), is_reached in zip(places, reached, strict=True) if is_reached]
            if committed is not None:
                times.append(committed)
            behind = written[1] - max(times, default=0.0)
            if behind < TOLD_SECONDS or (self._measured is not None and self._measured[1] >= TOLD_SECONDS):
                break
            time.sleep(_BETWEEN_LOOKS)  # after a pause of the primary the age of the last commit says little
        return max(behind, 0.0)

    def _written(self) -> tuple[str, float] | None:
        """Return where the primary's log ends and its clock; None where it does not answer."""
        try:
            with self._database.short_connection() as connection:
                place, clock = connection.execute(queries["written_so_far"]).fetchone() or ("0/0", 0.0)
        except DatabaseUnavailableError:
            return None
        self._places.append((place, clock))
        return place, clock


def find_replica(database: Database, limits: StatementLimits) -> Replica | None:
    """Return the replica that the environment names; nothing is asked of it yet.

    Raises:
        ConfigurationError: a variable has a value that it cannot have.
    """
    settings = ReplicaSettings.find()
    return None if settings is None else Replica(settings, database, limits)


def replica_state(database: Database) -> ReplicaState | None:
    """Return the state of the replica that the environment names; None where it names none.

    Raises:
        ConfigurationError: a variable has a value that it cannot have.
    """
    from sourcebook.database.pool import StatementLimits

    replica = find_replica(database, StatementLimits.find())
    if replica is None:
        return None
    try:
        return replica.state()
    finally:
        replica.close()


@contextmanager
def failures_of_replica() -> Iterator[None]:
    """Name the replica in failures, and its own setting in their remedies.

    Raises:
        DatabaseError: a failure of the block.
    """
    try:
        yield
    except ReplicaError:
        raise
    except DatabaseError as error:
        detail = error.detail.replace("the database", "the replica", 1)
        remedy = error.remedy.replace("SOURCEBOOK_DATABASE_URL", URL_VARIABLE)
        raise type(error)(detail, remedy=remedy) from error


def note_on_lateness(behind: float) -> str | None:
    """Return the sentence of results from a replica that is late; None where it is not."""
    return None if behind < TOLD_SECONDS else f"The index searched is a replica, {_seconds(behind)} behind."


def _seconds(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def _most_behind() -> float | None:
    text = os.environ.get(LAG_VARIABLE, "").strip()
    if not text:
        return None
    from pydantic import TypeAdapter, ValidationError

    from sourcebook.config.field_types import Duration

    try:
        return TypeAdapter(Duration).validate_python(text).total_seconds()
    except ValidationError:
        raise ConfigurationError(f"{LAG_VARIABLE} is {text!r}: write a duration such as 30s or 5m") from None
