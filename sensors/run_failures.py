"""The class of a run's failure: infrastructure, which a retry may mend, or deterministic, which waits for a change."""

from collections.abc import Iterable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

import dagster as dg
import psycopg
from pebble import ProcessExpired

from sourcebook import errors


def _names(kinds: Iterable[type[BaseException]]) -> frozenset[str]:
    """Return the names of classes of errors: Dagster keeps of an error the name of its class alone."""
    return frozenset(kind.__name__ for kind in kinds)


_DETERMINISTIC = _names(
    (
        errors.ConfigurationError,
        errors.MissingDependencyError,
        errors.ModelError,
        errors.ParserError,
        errors.SpeechError,
    )
)
"""Names of errors that the same content and settings raise again."""
_INFRASTRUCTURE = _names(
    (
        BrokenProcessPool,
        errors.DatabaseBusyError,
        errors.DatabaseConnectionLostError,
        errors.DatabaseError,
        errors.DatabaseUnavailableError,
        MemoryError,
        psycopg.OperationalError,
        ProcessExpired,
    )
)
"""Names of errors of the machine or the database; in the chain of an error they outweigh deterministic ones."""
_FIRST_WAIT = 30.0
"""Seconds before the second retry after an infrastructure failure; the first retry starts at once."""
_LONGEST_WAIT = 3600.0
"""Seconds between two retries at most."""
MOST_COUNTED = 16
"""Failures in a row that are counted: after fewer the wait is the longest one."""


@dataclass(frozen=True, slots=True)
class RunFailure:
    """The failure of a run."""

    reason: str
    """Innermost error, or the end of the run's process."""
    is_deterministic: bool
    """Whether the same content and settings would fail again."""


def failure_of(instance: dg.DagsterInstance, run_id: str) -> RunFailure:
    """Return the failure of a failed run.

    A run without a recorded error was killed. An unknown error counts as infrastructure, so that it is retried.
    """
    for event_type in (dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE):
        for entry in instance.all_logs(run_id, of_type=event_type):
            error = getattr(entry.dagster_event and entry.dagster_event.event_specific_data, "error", None)
            if error is None:
                continue
            names = {error.cls_name}
            while error.cause is not None:
                error = error.cause
                names.add(error.cls_name)
            deterministic = bool(names & _DETERMINISTIC) and not names & _INFRASTRUCTURE
            return RunFailure(" ".join(str(error.message).split())[:300], deterministic)
    return RunFailure("its process was killed", is_deterministic=False)


def seconds_to_wait(failures: int) -> float:
    """Return the seconds between the last of a number of runs that failed or settled nothing and the next one."""
    return 0.0 if failures <= 1 else min(_FIRST_WAIT * 2.0 ** (min(failures, MOST_COUNTED) - 2), _LONGEST_WAIT)


def show_as_cancelled(
    instance: dg.DagsterInstance, run_id: str, reason: str = "The request for this work was cancelled."
) -> None:
    """Record a run that somebody stopped as such: Dagster takes an interrupt of others for a failure."""
    run = instance.get_run_by_id(run_id)
    if run is not None:
        instance.report_run_canceled(run, reason)
