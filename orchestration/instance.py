"""Dagster's instance: its storage beside the knowledge base, its settings from one file."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.database.database import Database

if TYPE_CHECKING:
    import dagster as dg

SETTINGS = Path(__file__).with_name("dagster.yaml")
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
    """Open Dagster's instance."""
    import dagster as dg

    return dg.DagsterInstance.from_config(str(prepare_dagster_home(home, database)))
