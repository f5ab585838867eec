"""The resource `progress`: progress of a stage in the log of its run and to listeners in this process."""

import time

import dagster as dg

from resources.partition import collection_of
from sourcebook.model.progress import Progress, announce

_SECONDS_BETWEEN_LINES = 5.0
"""Seconds between two lines of progress in the log of a run."""


class ProgressLog(dg.ConfigurableResource["ProgressLog"]):
    """Lines with done, total and rate in the log of a run, every few seconds."""

    def reporter(
        self, context: dg.AssetExecutionContext, unit: str, *, pace: str = "a second", stage: str | None = None
    ) -> Progress:
        """Return the callback that a stage calls after each batch.

        Args:
            context: the context of the asset.
            unit: the counted things, in the plural.
            pace: the unit of the rate, such as "a second".
            stage: whose progress it is; that of the asset by default.
        """
        stage = stage or context.asset_key.path[-1]
        started = time.perf_counter()
        last = started

        def report(done: int, total: int, failed: int = 0) -> None:
            nonlocal last
            now = time.perf_counter()
            announce(stage, collection_of(context.partition_key), done, total, failed)
            if now - last >= _SECONDS_BETWEEN_LINES:
                last = now
                failures = f", {failed:,} failed" if failed else ""
                context.log.info(f"{done:,} of {total:,} {unit}{failures}, {done / (now - started):,.1f} {pace}")

        return report
