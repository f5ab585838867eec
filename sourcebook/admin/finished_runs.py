"""Small changes that are done and wait to be recorded as runs of Dagster, each a row of the table `finished_run`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final
from uuid import uuid4

import psycopg
from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.database.queries import queries

if TYPE_CHECKING:
    from sourcebook.admin.checks import CheckOutcome
    from sourcebook.database.database import Database
    from sourcebook.model.report import StageReport
    from sourcebook.model.shard import Shard

MOST_ATTEMPTS: Final = 3
"""Attempts to record a finished run; its work is done, and only the run is missing afterwards."""
_PARTITION: Final = "partition"
"""Key beside those of the assets in the stored reports of a shard."""
_LOCK: Final = 0x50_0B00E
"""Key of the advisory lock of the process that records finished runs."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A small change that is done."""

    run_id: str
    """UUID of the run to be."""
    collection: str
    partition: str
    """Key of its partition in Dagster: the collection, or a shard of it."""
    reports: Mapping[str, StageReport]
    """Reports of the stages, by asset."""
    outcomes: Sequence[CheckOutcome]
    """Outcomes of the checks of the collection."""


def keep(
    connection: Connection,
    collection: str,
    reports: Mapping[str, StageReport],
    outcomes: Sequence[CheckOutcome],
    *,
    shard: Shard | None = None,
) -> str:
    """Store a small change of a collection, or of one of its shards, that is done, and return the id of its run."""
    partition = {} if shard is None else {_PARTITION: shard.key}
    run_id = str(uuid4())
    connection.execute(
        queries["keep_finished_run"],
        {
            "run_id": run_id,
            "collection": collection,
            "reports": Jsonb({asset: report.to_json() for asset, report in reports.items()} | partition),
            "outcomes": Jsonb([asdict(outcome) for outcome in outcomes]),
        },
    )
    return run_id


def runs_to_record(connection: Connection) -> list[FinishedRun]:
    """Return the finished runs that are to be recorded, the oldest first."""
    from sourcebook.admin.checks import CheckOutcome  # a command that has nothing to record imports neither
    from sourcebook.model.report import StageReport

    rows = connection.execute(queries["finished_runs"], {"most_attempts": MOST_ATTEMPTS}).fetchall()
    return [
        FinishedRun(
            run_id,
            collection,
            reports.pop(_PARTITION, collection),
            {asset: StageReport.from_json(report) for asset, report in reports.items()},
            [CheckOutcome(**{**kept, "examples": tuple(kept["examples"])}) for kept in outcomes],
        )
        for run_id, collection, reports, outcomes in rows
    ]


def count_runs_to_record(connection: Connection) -> tuple[int, int]:
    """Return how many finished runs are to be recorded, and how many of them have been waiting for over a minute."""
    row = connection.execute(queries["count_finished_runs"], {"most_attempts": MOST_ATTEMPTS}).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def unrecorded(connection: Connection) -> tuple[int, str | None]:
    """Return the number of finished runs that could not be recorded, and the reason of one of them."""
    row = connection.execute(queries["unrecorded_runs"], {"most_attempts": MOST_ATTEMPTS}).fetchone()
    return (int(row[0]), row[1]) if row else (0, None)


def forget(connection: Connection, run_id: str) -> None:
    """Delete a finished run that is recorded."""
    connection.execute(queries["forget_finished_run"], {"run_id": run_id})


def postpone(connection: Connection, run_id: str, error: str) -> None:
    """Count a failed attempt to record a finished run.

    Args:
        connection: in autocommit mode.
        run_id: the run.
        error: the reason.
    """
    connection.execute(queries["postpone_finished_run"], {"run_id": run_id, "error": error})


def is_recording(connection: Connection) -> bool:
    """Return whether a process records finished runs now."""
    return connection.execute(queries["recorder_is_locked"], {"lock": _LOCK}).fetchone() == (True,)


@contextmanager
def recorder_lock(database: Database) -> Iterator[bool]:
    """Hold the lock of the process that records finished runs; yield False where another process holds it.

    The lock belongs to the database session and ends with it, even where the process is killed. It is released before
    the session is closed: the server ends a session some time after its client has left.
    """
    with database.own_connection() as connection:
        is_free = connection.execute(queries["lock_recorder"], {"lock": _LOCK}).fetchone() == (True,)
        try:
            yield is_free
        finally:
            if is_free:
                with suppress(psycopg.OperationalError):  # a lost connection has lost the lock
                    connection.execute(queries["unlock_recorder"], {"lock": _LOCK})
