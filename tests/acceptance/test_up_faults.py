"""`sourcebook up` whose database is killed, and whose terminal is closed; `test_up_kills.py` kills the rest."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from benchmarks.harness.kills.processes import family
from benchmarks.harness.kills.up import Up
from tests.acceptance.processes import free_port
from tests.acceptance.test_up import servers_of
from tests.acceptance.workplace import Workplace
from tests.waiting import wait_until

SECONDS = 240.0
"""Seconds for a step on a busy machine."""


@contextmanager
def running_up(workplace: Workplace, errors: Path) -> Iterator[Up]:
    port = free_port()
    with workplace.start("up", "--port", str(port), "--json", errors_to=errors) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline(), errors.read_text()
            yield Up(process, port)
        finally:
            for each in family(process.pid) if process.poll() is None else []:
                each.kill()


@pytest.mark.timeout(900)
def test_a_killed_database_is_started_again_and_a_closed_terminal_stops_all(
    shared_workplace: Workplace,
) -> None:
    """After `kill -9` of the postmaster sensors are evaluated again; SIGHUP ends everything, the database included.

    Meanwhile a second `up` is refused.
    """
    shared_workplace.configure(handbook="docs")
    data_folder = shared_workplace.home / "postgres"
    errors = shared_workplace.folder / "errors.txt"
    with running_up(shared_workplace, errors) as up:
        said = shared_workplace.run("up", "--port", str(free_port()), code=1)
        assert f"another `sourcebook up` of this state folder is running (process {up.process.pid} since 20" in said

        (former,) = servers_of(data_folder)
        former.kill()
        wait_until(lambda: set(servers_of(data_folder)) - {former}, seconds=SECONDS, what="another database server")
        time_of_restart = time.time()
        wait_until(lambda: up.sensors_work_since(time_of_restart), seconds=SECONDS, what="sensors are evaluated again")

        told = "the embedded database ended; it is started again"
        wait_until(lambda: told in errors.read_text(), what="the restart is told")

        services = up.services()
        os.kill(up.process.pid, signal.SIGHUP)
        up.process.communicate(timeout=120)
    assert up.process.returncode == 0, errors.read_text()
    assert "Traceback" not in errors.read_text()
    _, alive = psutil.wait_procs(services, timeout=60)
    assert not alive
    assert not servers_of(data_folder)
