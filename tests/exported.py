"""One export of the default model, and one new database, for all processes and layers of one `make test`."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.embedding.model import find_model
from sourcebook.embedding.onnx.open import needs_export
from sourcebook.embedding.weights import BUNDLED_NAME

FOLDER_VARIABLE = "TEST_EXPORTED_MODEL"
"""Environment variable with the folder that the layers share; without it, the processes of one layer share one."""


def exported_home(factory: pytest.TempPathFactory, export: Callable[[Path], str | None]) -> Path:
    """Return a state folder with the export, which the first process that asks makes while others wait for it.

    Args:
        factory: Source of temporary folders.
        export: Exports the default model into a state folder, and returns the reason if it cannot.
    """
    base = factory.getbasetemp()
    of_this_layer = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    home = Path(os.environ.get(FOLDER_VARIABLE, of_this_layer)) / "exported"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "made.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if needs_export(home, find_model(BUNDLED_NAME)):
            assert export(home) is None
    return home


def link_model(exported: Path, home: Path) -> None:
    """Give a state folder the export of another one, without a copy; runs there import no torch then.

    The first ingest on a bare machine is in `tests/acceptance/test_demo.py`.
    """
    shutil.copytree(exported / "models", home / "models", copy_function=os.link, dirs_exist_ok=True)


def copy_database(exported: Path, home: Path) -> None:
    """Give a state folder the embedded server's data with the empty tables of a knowledge base and of Dagster.

    The first process that asks makes them, which takes two seconds of a core, while others wait for it.
    """
    made = exported / "database"
    with (exported / "database.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            _make_database(made)
    shutil.copytree(made, DatabaseLocation(home).data_folder, ignore=shutil.ignore_patterns("log"))


def _make_database(folder: Path) -> None:
    """Make the data of a new state folder, whose server has been stopped."""
    from orchestration.instance import open_instance

    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SOURCEBOOK", "DAGSTER"))}
    with tempfile.TemporaryDirectory(prefix="sourcebook-test-") as public, patch.dict(os.environ, clean, clear=True):
        location = DatabaseLocation(Path(public).resolve() / "state")
        location.home.parent.chmod(0o755)  # PostgreSQL is another user where these tests are root
        with Database(location) as database:
            open_instance(location.home, database).dispose()
        shutil.move(location.data_folder, folder)
