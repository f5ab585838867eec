"""The code location: assets, checks, jobs, schedules, sensors and resources."""

import dagster as dg

from assets.checks import collection_checks
from assets.sources import SOURCES, configuration_is_valid, record_assets, sources_are_fresh
from orchestration.jobs import ASSETS, ingest
from orchestration.retention import nightly_retention, retention
from orchestration.schedules import TIME_ZONE, nightly, weekly
from resources.embedder import embedder_resource
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sensors.changed_files import changed_files_sensor
from sensors.changed_records import changed_records_sensor
from sensors.collections import collections_sensor
from sensors.due_pages import due_pages_sensor
from sensors.moved_repositories import moved_repositories_sensor
from sensors.requested_work import requested_work_sensor
from sourcebook.cli.logs import show_logs

show_logs()

defs = dg.Definitions(
    assets=[*SOURCES, *record_assets(), *ASSETS],
    asset_checks=[collection_checks, configuration_is_valid, sources_are_fresh],
    jobs=[ingest, retention],
    schedules=[nightly, nightly_retention, weekly],
    sensors=[
        collections_sensor,
        changed_files_sensor,
        changed_records_sensor,
        due_pages_sensor,
        moved_repositories_sensor,
        requested_work_sensor,
    ],
    resources={
        "knowledge": Knowledge(time_zone=TIME_ZONE),
        "selection": RunSelection(),
        "progress": ProgressLog(),
        "embedder": embedder_resource(),
    },
    executor=dg.in_process_executor,
)
