"""The rules by which every sensor requests a run of a collection or skips it."""

import time
from collections.abc import Callable

import dagster as dg

from orchestration.partitions import COLLECTIONS
from resources.knowledge import Knowledge
from sensors.abandoned_runs import active_runs
from sourcebook.database.database import Database

CHANGES = "sourcebook/changes"
"""Tag of a run with the fingerprint of the changes that it was requested for."""
_SECONDS_AFTER_A_FAILED_RUN = 300


def look_at_collections(
    instance: dg.DagsterInstance, knowledge: Knowledge, look: Callable[[Database, str], dg.RunRequest | str]
) -> tuple[list[dg.RunRequest], str | None]:
    """Return the run requests of all collections without an active run, or the reason for having none.

    Args:
        instance: the Dagster instance.
        knowledge: the database, opened once for all collections.
        look: returns the run request of a collection, or the reason for having none.
    """
    requests: list[dg.RunRequest] = []
    reasons: list[str] = []
    with knowledge.opened() as database:
        for collection in sorted(instance.get_dynamic_partitions(COLLECTIONS)):
            active = active_runs(instance, database, collection)
            outcome = f"run {active[0].run_id[:8]} is in progress" if active else look(database, collection)
            if isinstance(outcome, dg.RunRequest):
                requests.append(outcome)
            else:
                reasons.append(f"{collection}: {outcome}")
    return requests, None if requests else "; ".join(reasons) or "there is no collection yet"


def request_run(instance: dg.DagsterInstance, collection: str, fingerprint: str) -> dg.RunRequest | str:
    """Return a run request, or the reason for having none: the last run for these changes has just failed.

    Args:
        instance: the Dagster instance.
        collection: the partition.
        fingerprint: the digest of the changes; Dagster merges requests with an equal one.
    """
    earlier = instance.get_run_records(dg.RunsFilter(tags={CHANGES: fingerprint, "dagster/partition": collection}))
    if earlier and earlier[0].dagster_run.status == dg.DagsterRunStatus.FAILURE:
        wait = (earlier[0].end_time or 0) + _SECONDS_AFTER_A_FAILED_RUN - time.time()
        if wait > 0:
            return f"the last run for these changes failed; the next retry is in {wait:.0f} s"
    return dg.RunRequest(
        run_key=f"{collection}:{fingerprint}:{len(earlier)}", partition_key=collection, tags={CHANGES: fingerprint}
    )
