"""One export of the default model for all processes that run tests, and for all layers of one `make test`."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

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
