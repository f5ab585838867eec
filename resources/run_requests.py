"""When a sensor asks for a run of a collection, and when it holds back. The same rules for every sensor."""

import time

import dagster as dg

CHANGES = "sourcebook/changes"
"""Tag of a run: fingerprint of the changes it was requested for."""
_SECONDS_AFTER_A_FAILED_RUN = 300


def request_run(instance: dg.DagsterInstance, collection: str, fingerprint: str) -> dg.RunRequest | str:
    """Return a request for a run, or why there is none: the last one for the same changes has just failed.

    Args:
        instance: Dagster's.
        collection: the partition.
        fingerprint: of what the run is for; two requests for the same changes are one.
    """
    earlier = instance.get_run_records(dg.RunsFilter(tags={CHANGES: fingerprint, "dagster/partition": collection}))
    if earlier and earlier[0].dagster_run.status == dg.DagsterRunStatus.FAILURE:
        wait = (earlier[0].end_time or 0) + _SECONDS_AFTER_A_FAILED_RUN - time.time()
        if wait > 0:
            return f"the last run for these changes failed; the next try is in {wait:.0f} s"
    return dg.RunRequest(
        run_key=f"{collection}:{fingerprint}:{len(earlier)}", partition_key=collection, tags={CHANGES: fingerprint}
    )
