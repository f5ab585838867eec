"""Workers: the processes that do requests for work as they come."""

import time
from collections.abc import Iterator
from math import inf
from typing import Final

import psycopg
from psycopg import Connection

from sourcebook.admin.dagster_state import read_dagster_state
from sourcebook.admin.work_requests import waiting_work
from sourcebook.database.database import Database
from sourcebook.database.queries import queries

_SECONDS_OF_A_HEARTBEAT: Final = 120.0
"""Seconds since the last heartbeat of Dagster's sensors, up to which they run."""
_SECONDS_BETWEEN_LOOKS: Final = 10.0
"""Seconds between two looks at Dagster's storage while work waits."""


def has_worker(database: Database) -> bool:
    """Return whether anything does requests as they come: a server, the watch, or the sensors of Dagster.

    Raises:
        DatabaseError: the database is out of reach.
    """
    with database.connection() as connection:
        return connection.execute(queries["worker_runs"]).fetchone() == (True,) or _sensors_run(database)


def listen_for_work(database: Database, connection: Connection) -> Iterator[bool]:
    """Yield once a second, or as soon as a request changes, whether work waits that is not Dagster's; without an end.

    Until the session ends, others see that a worker runs.

    Args:
        database: the knowledge base.
        connection: a session of its own, in autocommit mode.
    """
    connection.execute(queries["listen_to_work"])
    connection.execute(queries["say_that_a_worker_runs"])
    looked, has_sensors = -inf, False
    while True:
        waits = connection.execute(queries["watch_runs"]).fetchone() != (True,) and bool(waiting_work(connection))
        if waits and time.monotonic() - looked > _SECONDS_BETWEEN_LOOKS:
            looked, has_sensors = time.monotonic(), _sensors_run(database)
        yield waits and not has_sensors
        list(connection.notifies(timeout=1.0, stop_after=1))


def _sensors_run(database: Database) -> bool:
    """Return whether Dagster's sensors run, which ask for runs that do the requests."""
    try:
        with psycopg.connect(database.dagster_url(), connect_timeout=3, autocommit=True) as connection:
            state = read_dagster_state(connection)
    except psycopg.Error:  # without its storage no sensor runs
        return False
    return state is not None and state.heartbeats.get("SENSOR", _SECONDS_OF_A_HEARTBEAT) < _SECONDS_OF_A_HEARTBEAT
