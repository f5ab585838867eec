"""Fresh workplaces for the tests that drive the whole graph."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.typed_world import World
from tests.acceptance.workplace import Workplace, temporary_workplace


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what this machine's user has set out of the tests."""
    for name in list(os.environ):
        if name.startswith(("SOURCEBOOK", "DAGSTER")):
            monkeypatch.delenv(name)


@pytest.fixture
def workplace() -> Iterator[Workplace]:
    """An empty folder of this test's own."""
    with temporary_workplace() as workplace:
        yield workplace


@pytest.fixture
def model_was_exported(workplace: Workplace, exported_model: Path) -> None:
    """Give the empty workplace what costs most of a first ingest's time: the default model's export, and tables.

    The first ingest on a bare machine is in `test_demo`, and those without tables are in `test_wheel` and
    `test_kills`; two exports at once are in `test_onnx_export`.
    """
    workplace.begin_prepared(exported_model)


@pytest.fixture
def unrecorded(workplace: Workplace, model_was_exported: None) -> Iterator[None]:
    """Give the empty workplace all that, and have nothing record the runs of its small changes."""
    with workplace.unrecorded():
        yield


@pytest.fixture(scope="module")
def shared_workplace() -> Iterator[Workplace]:
    """A folder that the tests of one module share."""
    with temporary_workplace() as workplace:
        yield workplace


@pytest.fixture
def world(workplace: Workplace, tmp_path: Path) -> World:
    """An empty folder, which is the reader's home, too."""
    return World(workplace.folder, tmp_path, tmp_path / "errors")
