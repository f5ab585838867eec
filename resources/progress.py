"""Where long work reports to: the run's log, and whoever listens in this process."""

import time

import dagster as dg

from sourcebook.model.progress import Progress, announce

_SECONDS_BETWEEN_LINES = 5.0


class ProgressLog(dg.ConfigurableResource["ProgressLog"]):
    """Writes done/total and rate to the run's log every few seconds, never a line a document."""

    def reporter(self, context: dg.AssetExecutionContext, unit: str, *, pace: str = "a second") -> Progress:
        """Return what a stage calls after each batch.

        Args:
            context: of the asset that works.
            unit: what is counted, in the plural.
            pace: what so many of them in a second are called.
        """
        stage = context.asset_key.to_user_string()
        started = time.perf_counter()
        last = started

        def report(done: int, total: int, failed: int = 0) -> None:
            nonlocal last
            now = time.perf_counter()
            announce(stage, context.partition_key, done, total, failed)
            if now - last >= _SECONDS_BETWEEN_LINES:
                last = now
                failures = f", {failed:,} failed" if failed else ""
                context.log.info(f"{done:,} of {total:,} {unit}{failures}, {done / (now - started):,.1f} {pace}")

        return report
