"""Dagster's instance: its storage beside the knowledge base, its settings from one file."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from sourcebook.database.database import Database
from sourcebook.database.queries import queries

if TYPE_CHECKING:
    import dagster as dg

SETTINGS = Path(__file__).with_name("dagster.yaml")
_STORAGE_LOCK = 0x50_0B00D
_IN_PROCESS = {
    # What a run in a terminal's process writes belongs to the terminal.
    "compute_logs": {
        "module": "dagster._core.storage.noop_compute_log_manager",
        "class": "NoOpComputeLogManager",
    }
}
STORAGE_VARIABLE = "SOURCEBOOK_DAGSTER_DATABASE_URL"


def prepare_dagster_home(home: Path, database: Database) -> Path:
    """Make DAGSTER_HOME below the state folder and point this process and its children at it.

    A DAGSTER_HOME in the environment is somebody's own instance and is used as it is.
    """
    os.environ.setdefault(STORAGE_VARIABLE, database.dagster_url())
    own = os.environ.get("DAGSTER_HOME")
    if own:
        return Path(own)
    folder = home.absolute() / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = SETTINGS.read_text(encoding="utf-8")
    settings = folder / "dagster.yaml"
    if not settings.exists() or settings.read_text(encoding="utf-8") != wanted:
        settings.write_text(wanted, encoding="utf-8")
    os.environ["DAGSTER_HOME"] = str(folder)
    return folder


def open_instance(home: Path, database: Database) -> "dg.DagsterInstance":
    """Open Dagster's instance for a run in this process."""
    import dagster as dg
    from dagster._core.instance.ref import InstanceRef

    reference = InstanceRef.from_dir(str(prepare_dagster_home(home, database)), overrides=_IN_PROCESS)
    with psycopg.connect(database.url, autocommit=True) as connection:
        # Opening the instance creates Dagster's tables where they are missing; two processes at once would collide.
        connection.execute(queries["lock_dagster_storage"], {"lock": _STORAGE_LOCK})
        instance = dg.DagsterInstance.from_ref(reference)
    # Without this, each of a run's 200 statements opens a connection of its own: half of a short run's time.
    instance.optimize_for_webserver(statement_timeout=600_000, pool_recycle=3600, max_overflow=20)
    return instance
