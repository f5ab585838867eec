"""The state of Dagster as its storage records it: heartbeats of the daemon, ticks of sensors, unfinished runs.

The tables are read by SQL, because importing Dagster takes a second and its connections have no time limit. The version
of Dagster is pinned, and a test reads the state of a real daemon.
"""

from dataclasses import dataclass

import psycopg
from psycopg import Connection

from sourcebook.database.queries import queries


@dataclass(frozen=True, slots=True)
class DagsterState:
    """Ages in seconds by name, and numbers of unfinished runs by status."""

    heartbeats: dict[str, float]
    """Seconds since the last heartbeat by daemon, such as `SENSOR`."""
    ticks: dict[str, float]
    """Seconds since the last finished tick, by sensor that is switched on and ticked in the last week."""
    failing: tuple[str, ...]
    """Sensors whose last tick failed."""
    runs: dict[str, int]
    """Unfinished runs by status, such as `QUEUED`."""


def read_dagster_state(connection: Connection) -> DagsterState | None:
    """Return the state in Dagster's storage; None where Dagster has never run on it. In autocommit mode."""
    try:
        heartbeats: list[tuple[str, float]] = connection.execute(queries["daemon_heartbeats"]).fetchall()
        ticks: list[tuple[str, float, bool]] = connection.execute(queries["sensor_ticks"]).fetchall()
        runs: list[tuple[str, int]] = connection.execute(queries["unfinished_runs"]).fetchall()
    except psycopg.errors.UndefinedTable:
        return None
    return DagsterState(
        dict(heartbeats),
        {name: age for name, age, _ in ticks},
        tuple(name for name, _, failed in ticks if failed),
        dict(runs),
    )
