"""The Dagster instance as sensors see it in a code location of others: their partitions and their runs alone.

An instance is shared: a sensor that ends abandoned runs, or deletes the partitions of collections that are gone, must
not meet those of somebody else.
"""

from collections.abc import Sequence
from typing import Any, cast

import dagster as dg

from orchestration.embedding.names import Names


class OwnInstance:
    """A view of an instance; everything that is not about runs or partitions is the instance's own.

    Args:
        instance: the shared instance.
        names: the names of the definitions.
        job: name of the job of the runs that sensors and schedules request.
    """

    def __init__(self, instance: dg.DagsterInstance, names: Names, job: str) -> None:
        self._instance = instance
        self._names = names
        self._job = job
        self._keys = {names.key(key) for key in names.own}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._instance, name)

    def get_dynamic_partitions(self, name: str) -> Sequence[str]:
        """Return the keys of the partitions with a name, under the prefix."""
        return self._instance.get_dynamic_partitions(self._names.name(name))

    def get_run_records(self, filters: dg.RunsFilter | None = None, limit: int | None = None) -> list[dg.RunRecord]:
        """Return the own runs that a filter takes, the newest first."""
        filters = filters or dg.RunsFilter()
        if filters.tags:  # by Sourcebook's tags: of the runs that its sensors and schedules request
            asked = dg.RunsFilter(job_name=self._job, statuses=filters.statuses, tags=filters.tags)
            return list(self._instance.get_run_records(asked, limit=limit))
        found = [each for each in self._instance.get_run_records(filters) if self._is_own(each.dagster_run)]
        return found[:limit]

    def get_runs(self, filters: dg.RunsFilter | None = None, limit: int | None = None) -> list[dg.DagsterRun]:
        """Return the own runs that a filter takes, the newest first."""
        return [record.dagster_run for record in self.get_run_records(filters, limit)]

    def _is_own(self, run: dg.DagsterRun) -> bool:
        """Return whether a run is one of the job, or materializes own assets, as a backfill does."""
        return run.job_name == self._job or bool(self._keys.intersection(run.asset_selection or ()))


class OwnContext:
    """The context of a sensor or a schedule with a view of its instance."""

    def __init__(self, context: Any, instance: OwnInstance) -> None:
        self._context = context
        self.instance = cast("dg.DagsterInstance", instance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)
