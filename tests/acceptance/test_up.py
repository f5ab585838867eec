"""`sourcebook up` where it cannot start; `test_wheel.py` has its work."""

import socket
from pathlib import Path

import psutil

from tests.acceptance.workplace import Workplace


def servers_of(folder: Path) -> list[psutil.Process]:
    """Return the PostgreSQL processes that serve a data folder."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if str(folder) in (process.info["cmdline"] or []) and process.status() != psutil.STATUS_ZOMBIE
    ]


def test_a_port_that_is_taken_is_told_and_nothing_is_left_running(workplace: Workplace) -> None:
    workplace.configure(handbook="docs")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = workplace.run("up", "--port", str(port), code=1)
    assert f"port {port} is taken" in said
    assert not servers_of(workplace.home / "postgres")
