"""Fresh workplaces for the tests that drive the whole graph."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.workplace import Workplace


def _workplace() -> Iterator[Workplace]:
    # Not one of pytest's own folders: another user, whom root's PostgreSQL runs as, must be able to enter it.
    folder = Path(tempfile.mkdtemp(prefix="sourcebook-test-")).resolve()
    folder.chmod(0o755)
    yield Workplace(folder, folder / "state")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what this machine's user has set out of the tests."""
    for name in list(os.environ):
        if name.startswith(("SOURCEBOOK", "DAGSTER")):
            monkeypatch.delenv(name)


@pytest.fixture
def workplace() -> Iterator[Workplace]:
    """An empty folder of this test's own."""
    yield from _workplace()


@pytest.fixture(scope="module")
def shared_workplace() -> Iterator[Workplace]:
    """A folder that the tests of one module share."""
    yield from _workplace()
