"""The request for work that a run does: its progress, its end, and the wish to stop."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import dagster as dg

from sourcebook.admin.claimed_work import work_of_run
from sourcebook.database.database import Database

WORK_REQUEST = "sourcebook/work_request"
"""Tag of a run with the id of the request that it does, which leads the others that it does."""
WORK_ATTEMPT = "sourcebook/work_attempt"
"""Tag of such a run with the number of the attempt."""


_RETRY: Final = "dagster/retry_number"
"""Tag that Dagster's daemon gives to a run with which it starts a killed one again."""


def is_repeated(run: dg.DagsterRun) -> bool:
    """Return whether a person has executed an earlier run again: it has the tags of that run, and does no request."""
    return run.parent_run_id is not None and _RETRY not in run.tags


@contextmanager
def requested_run(database: Database, context: dg.InitResourceContext) -> Iterator[None]:
    """Record the progress of a run in the request that it does; nothing happens where it does none.

    A success is recorded here, when the last step has ended. The sensor `requested_work` records every other end, as
    Dagster may start a killed run again.

    Args:
        database: the knowledge base.
        context: context of a resource of the run.
    """
    run = context.run
    number = run.tags.get(WORK_REQUEST, "") if run is not None else ""
    if run is None or not number.isdigit():
        yield
        return
    with work_of_run(database, int(number), run.run_id, is_repeated=is_repeated(run)) as work:
        if work is None:  # it has ended, as where this run is executed again
            yield
            return

        def stopping() -> None:
            if context.instance is not None:
                context.instance.report_run_canceling(run, "The request for this work was cancelled.")

        work.on_stop = stopping
        with work.followed():
            yield
        if context.instance is not None and not _has_failed(context.instance, run.run_id):
            work.end("succeeded", failed=_failed_items(context.instance, run.run_id))


def _has_failed(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Return whether a step of a run has failed or was interrupted, or the run is being cancelled."""
    run = instance.get_run_by_id(run_id)
    return (
        run is None
        or run.status == dg.DagsterRunStatus.CANCELING
        or bool(instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE))
    )


def _failed_items(instance: dg.DagsterInstance, run_id: str) -> int:
    """Return the number of items that failed, as the assets of a run report it."""
    failed = 0
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION):
        materialization = entry.asset_materialization
        value = materialization.metadata.get("failed") if materialization is not None else None
        failed += value.value if isinstance(value, dg.IntMetadataValue) and value.value is not None else 0
    return failed
