"""The Dagster instance: its storage in the server of the knowledge base, its settings from one file."""

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
"""Key of the advisory lock for creating Dagster's tables."""
_IN_PROCESS = {
    # The output of a run in the process of a command goes to the terminal.
    "compute_logs": {
        "module": "dagster._core.storage.noop_compute_log_manager",
        "class": "NoOpComputeLogManager",
    }
}
STORAGE_VARIABLE = "SOURCEBOOK_DAGSTER_DATABASE_URL"


def prepare_dagster_home(home: Path, database: Database) -> Path:
    """Create DAGSTER_HOME in the state folder and set it for this process and its children.

    A DAGSTER_HOME in the environment is used unchanged.
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
    """Open the Dagster instance for a run in this process."""
    import dagster as dg
    from dagster._core.instance.ref import InstanceRef

    reference = InstanceRef.from_dir(str(prepare_dagster_home(home, database)), overrides=_IN_PROCESS)
    with psycopg.connect(database.url, autocommit=True) as connection:
        # Opening the instance creates Dagster's tables where they are missing; two processes at once would collide.
        connection.execute(queries["lock_dagster_storage"], {"lock": _STORAGE_LOCK})
        instance = dg.DagsterInstance.from_ref(reference)
    # Without a pool each of the 200 statements of a run opens a connection, which takes half of a short run's time.
    instance.optimize_for_webserver(statement_timeout=600_000, pool_recycle=3600, max_overflow=20)
    return instance
