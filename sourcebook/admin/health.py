"""The health of a running Sourcebook, for monitors: findings where a threshold is exceeded."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from psycopg import Connection

from sourcebook.admin.dagster_state import DagsterState
from sourcebook.admin.freshness import read_freshness, waiting_sources
from sourcebook.database.queries import queries
from sourcebook.model.plain_values import PlainValues

Severity = Literal["warning", "critical"]
_DAEMONS = ("SENSOR", "SCHEDULER", "QUEUED_RUN_COORDINATOR")
"""Daemons without which nothing is ingested."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The largest values without a finding."""

    lag: timedelta = timedelta(minutes=30)
    """Age of the oldest change that is not searchable."""
    silence: timedelta = timedelta(minutes=5)
    """Time since a daemon's heartbeat, and since the newest tick of a sensor."""
    failed: int = 0
    """Failed items of a collection."""


@dataclass(frozen=True, slots=True)
class Finding(PlainValues):
    """A threshold that is exceeded, or a part that does not work."""

    check: str
    """`database`, `configuration`, `heartbeat`, `tick`, `sensor`, `lag` or `failures`."""
    severity: Severity
    message: str
    collection: str | None = None
    value: float | None = None
    """Seconds or items; None where there is no number."""
    limit: float | None = None


def daemon_findings(state: DagsterState | None, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield the findings on Dagster's daemon and its sensors."""
    if state is None or not state.heartbeats:
        yield Finding("heartbeat", "critical", "no daemon has run on this database: start it with  sourcebook up")
        return
    limit = thresholds.silence.total_seconds()
    for daemon in _DAEMONS:
        age = state.heartbeats.get(daemon)
        if age is None or age > limit:
            since = f"gave no heartbeat for {_duration(age)}" if age is not None else "never gave a heartbeat"
            yield Finding("heartbeat", "critical", f"the daemon {daemon} {since}", None, age, limit)
    newest = min(state.ticks.values(), default=None)
    if newest is None or newest > limit:
        since = f"for {_duration(newest)}" if newest is not None else "yet"
        yield Finding("tick", "critical", f"no sensor has ticked {since}", None, newest, limit)
    for sensor in state.failing:
        yield Finding("sensor", "critical", f"the last tick of the sensor {sensor} failed: see the page Automation")


def ledger_findings(connection: Connection, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield the findings on the collections, in alphabetical order."""
    most = thresholds.lag.total_seconds()
    sources = waiting_sources(connection, most)
    for freshness in read_freshness(connection):
        if freshness.lag > most:
            waiting = f"changes in {freshness.collection} have been waiting for {_duration(freshness.lag)}"
            if found := [source.location for source in sources if source.collection == freshness.collection]:
                waiting += f": {', '.join(found)}"
            yield Finding("lag", "critical", waiting, freshness.collection, round(freshness.lag, 1), most)
    failed: dict[str, dict[str, int]] = {}
    for collection, _, reason, number in connection.execute(queries["failures"]):
        reasons = failed.setdefault(collection, {})
        reasons[reason] = reasons.get(reason, 0) + number
    for collection, reasons in sorted(failed.items()):
        total = sum(reasons.values())
        if total > thresholds.failed:
            by_reason = ", ".join(f"{number:,} {reason}" for reason, number in sorted(reasons.items()))
            told = (
                f"1 item has failed in {collection}" if total == 1 else f"{total:,} items have failed in {collection}"
            )
            advice = f"{told} ({by_reason}): sourcebook documents --failed"
            yield Finding("failures", "warning", advice, collection, total, thresholds.failed)


def _duration(seconds: float) -> str:
    """Return a duration in its largest unit: `45 s`, `31 min`, `5 h`, `3 d`."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} s"
