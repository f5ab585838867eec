"""The Dagster instance: its storage in the server of the knowledge base, its settings from one file."""

import os
import re
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
_IN_PROCESS = "in_process.yaml"
"""Name of the settings for runs in the process of a command."""
_TO_TERMINAL = """
compute_logs: # the output of a run in the process of a command goes to the terminal
  module: dagster._core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager
"""
"""The class has no other name: Dagster's documentation gives this one for dagster.yaml."""
STORAGE_VARIABLE = "SOURCEBOOK_DAGSTER_DATABASE_URL"


def prepare_dagster_home(home: Path, database: Database) -> Path:
    """Create DAGSTER_HOME in the state folder and set it for this process and its children.

    A DAGSTER_HOME in the environment is used unchanged.
    """
    os.environ.setdefault(STORAGE_VARIABLE, database.dagster_url())
    own = os.environ.get("DAGSTER_HOME")
    if own:
        return Path(own)
    folder = _own_folder(home)
    _write(folder / "dagster.yaml", SETTINGS.read_text(encoding="utf-8"))
    os.environ["DAGSTER_HOME"] = str(folder)
    return folder


def open_instance(home: Path, database: Database) -> "dg.DagsterInstance":
    """Open the Dagster instance for a run in this process."""
    import dagster as dg

    settings = prepare_dagster_home(home, database) / "dagster.yaml"
    folder = _own_folder(home)
    _write(folder / _IN_PROCESS, _without_compute_logs(settings) + _TO_TERMINAL)
    with psycopg.connect(database.url, autocommit=True) as connection:
        # Opening the instance creates Dagster's tables where they are missing; two processes at once would collide.
        connection.execute(queries["lock_dagster_storage"], {"lock": _STORAGE_LOCK})
        instance = dg.DagsterInstance.from_config(str(folder), _IN_PROCESS)
    # Without a pool each of the 200 statements of a run opens a connection, which takes half of a short run's time.
    instance.optimize_for_webserver(statement_timeout=600_000, pool_recycle=3600, max_overflow=20)
    return instance


def _own_folder(home: Path) -> Path:
    folder = home.absolute() / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _without_compute_logs(settings: Path) -> str:
    """Return the text of a dagster.yaml without its top-level key `compute_logs`."""
    if not settings.exists():
        return ""
    text = settings.read_text(encoding="utf-8")
    return re.sub(r"^compute_logs:.*\n(?:(?:[ \t].*)?\n)*", "", text, flags=re.MULTILINE)


def _write(file: Path, text: str) -> None:
    """Write a file whose text differs, through a temporary one: another process may be reading it."""
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(file)
