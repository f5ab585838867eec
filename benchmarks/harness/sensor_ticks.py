"""Ticks of the sensor `changed_files` in a process of its own, which prints their seconds and its memory as JSON.

`python -m benchmarks.harness.sensor_ticks CONFIGURATION TICKS`, with SOURCEBOOK_HOME in the environment.
"""

import json
import sys
import time
from pathlib import Path

import dagster as dg
import psutil

from orchestration.instance import open_instance
from resources.knowledge import Knowledge
from resources.partition import COLLECTIONS
from sensors.changed_files import changed_files_sensor
from sourcebook.admin.collections import collection_names
from sourcebook.config.loading import sourcebook_home
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation


def main(configuration: str, ticks: str) -> None:
    """Evaluate the sensor, with the server of the database running throughout."""
    home = sourcebook_home(Path(configuration))
    process = psutil.Process()
    seconds, memory = [], []
    with Database(DatabaseLocation.find(home)) as database:
        instance = open_instance(home, database)
        with database.connection() as connection:
            instance.add_dynamic_partitions(COLLECTIONS, collection_names(connection))
        cursor: str | None = None
        for _ in range(int(ticks)):
            started = time.perf_counter()
            knowledge = {"knowledge": Knowledge(config_path=configuration)}
            with dg.build_sensor_context(instance, cursor=cursor, resources=knowledge) as context:
                result = changed_files_sensor(context)
            assert isinstance(result, dg.SensorResult)
            seconds.append(time.perf_counter() - started)
            memory.append(process.memory_info().rss)
            cursor = result.cursor
            assert not result.run_requests, result.run_requests
            assert not json.loads(cursor or "")["seen"], f"the ledger is not up to date: {result.skip_reason}"
        instance.dispose()
    print(json.dumps({"seconds": seconds, "memory": memory}))


if __name__ == "__main__":
    main(*sys.argv[1:])
