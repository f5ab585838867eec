"""A launcher for the tests of Dagster's queue: a run that leaves the queue is shown as started, and does nothing."""

import dagster as dg


class NotingLauncher(dg.DefaultRunLauncher):
    """Dagster's default launcher without the processes of runs."""

    def launch_run(self, context) -> None:  # type: ignore[no-untyped-def]  # its type has no public name
        """Record a run as started."""
        self._instance.report_dagster_event(
            dg.DagsterEvent(dg.DagsterEventType.RUN_START.value, context.dagster_run.job_name),
            context.dagster_run.run_id,
        )
