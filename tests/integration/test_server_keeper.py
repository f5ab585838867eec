"""The process that keeps the embedded server for sensors: one at a time, and only where nobody else keeps it."""

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sourcebook.database import server_keeper
from sourcebook.database.embedded import EmbeddedServer, is_in_use


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sourcebook-test-") as place:
        data = Path(place).resolve() / "postgres"
        yield data
        if (keeper := server_keeper._keepers.pop(data, None)) is not None:
            server_keeper._release(keeper)


def test_a_keeper_is_started_once_and_again_where_it_was_killed(folder: Path) -> None:
    """It holds the server for as long as it lives; the next sensor looks whether it does."""
    server_keeper.keep_running(folder)
    first = server_keeper._keepers[folder]
    assert is_in_use(folder)
    server_keeper.keep_running(folder)
    assert server_keeper._keepers[folder] is first
    os.kill(first.pid, signal.SIGKILL)
    first.wait(60)
    assert not is_in_use(folder)
    server_keeper.keep_running(folder)
    assert server_keeper._keepers[folder].pid != first.pid
    assert is_in_use(folder)


def test_no_keeper_is_started_where_another_process_holds_the_server(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server_keeper.keep_running(folder)
    assert folder not in server_keeper._keepers
    server.close()
    server_keeper.keep_running(folder)
    assert folder in server_keeper._keepers
