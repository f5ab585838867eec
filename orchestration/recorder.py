"""Record the runs of small changes in a process of its own, which outlives the command for a second or two.

Importing Dagster and executing a job takes longer than bringing a few files up to date. A command stores what it has
done as rows of the table `finished_run`, starts this process and ends. The process executes the job for each row; its
assets only report. A row that no process has recorded, because the machine or a container has ended it, is recorded by
the next command.
"""

import gc
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from psycopg import Connection

from sourcebook.admin.finished_runs import FinishedRun, forget, postpone, recorder_lock, runs_to_record
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import DatabaseError
from sourcebook.installation import code_location

if TYPE_CHECKING:
    import dagster as dg

_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from orchestration.recorder import main; main(*sys.argv[2:])"
_NICENESS = 10
"""Steps of Linux's priority of a recorder that no command waits for."""
_log = logging.getLogger("sourcebook.recorder")


_started: list[subprocess.Popen[bytes]] = []
"""Recorders that may be running: Python warns where the object of a running process is dropped."""


def start_recorder(configuration: Path, home: Path, *, is_awaited: bool = False) -> subprocess.Popen[bytes]:
    """Start the process that records the finished runs, and return at once.

    Args:
        configuration: path of the configuration file.
        home: the state folder.
        is_awaited: whether the caller waits for the process, which gives way to other programs else.
    """
    niceness = str(0 if is_awaited else _NICENESS)
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM, str(code_location()), str(configuration), str(home), niceness],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in the terminal of a finished command is meant for another program
    )
    _started[:] = [each for each in _started if each.poll() is None]
    _started.append(process)
    return process


def main(configuration: str, home: str, niceness: str) -> None:
    """Record every finished run, and end; end at once where another process records them."""
    gc.disable()
    os.nice(int(niceness))
    with Database(DatabaseLocation.find(Path(home))) as database:
        record_finished_runs(database, Path(configuration), Path(home))
    os._exit(0)  # taking Dagster's objects apart takes a tenth of a second


def record_finished_runs(database: Database, configuration: Path, home: Path) -> int:
    """Record the finished runs that wait, and return their number; none where another process records them.

    Args:
        database: the knowledge base.
        configuration: path of the configuration file.
        home: the state folder.

    Raises:
        DatabaseError: the database cannot be reached.
    """
    tried: set[str] = set()
    # A command that stores its run while the lock is still held leaves it to this process, so the last look comes after
    # the release.
    while _waiting(database, tried):
        with recorder_lock(database) as is_free:
            if not is_free:
                break
            with _opened_instance(database, home) as instance, database.connection() as connection:
                while runs := _waiting(database, tried):
                    for run in runs:
                        tried.add(run.run_id)
                        _record(instance, database, connection, run, configuration)
    return len(tried)


def _waiting(database: Database, tried: set[str]) -> list[FinishedRun]:
    with database.connection() as connection:
        return [run for run in runs_to_record(connection) if run.run_id not in tried]


def _record(
    instance: "dg.DagsterInstance", database: Database, connection: Connection, run: FinishedRun, configuration: Path
) -> None:
    """Record one run; a failed attempt is counted, and the row waits for the next process."""
    from orchestration.run import RunError, record_run

    try:
        record_run(instance, database, run, configuration=configuration)
    except DatabaseError:
        raise
    except RunError as error:
        _log.warning("%s: %s", run.collection, error)  # visible as a failed run
    except Exception as error:  # noqa: BLE001 - Dagster may raise anything; its reason is kept
        _log.warning("%s: run %s cannot be recorded: %s", run.collection, run.run_id, error)
        postpone(connection, run.run_id, f"{type(error).__name__}: {error}")
        return
    forget(connection, run.run_id)


@contextmanager
def _opened_instance(database: Database, home: Path) -> Iterator["dg.DagsterInstance"]:
    from orchestration.instance import open_instance

    instance = open_instance(home, database)
    try:
        yield instance
    finally:
        instance.dispose()
