"""`sourcebook up` under faults: its processes are replaced when they are killed, and end with it however it ends."""

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import psutil
import pytest

from tests.acceptance.processes import family, free_port, listens
from tests.acceptance.test_up import servers_of
from tests.acceptance.workplace import Json, Workplace
from tests.waiting import wait_until

SECONDS = 240.0
"""Seconds for a step on a busy machine."""
PROGRAMS = {"code server": "grpc", "web server": "dagster_webserver", "daemon": "dagster._daemon"}
"""An argument of each process's command line."""
TICKS = """
query { sensorsOrError(repositorySelector: {repositoryName: "__repository__", repositoryLocationName: "sourcebook"}) {
  ... on Sensors { results { sensorState { ticks(limit: 1) { timestamp status } } } } } }
"""


@dataclass(frozen=True)
class Up:
    """A running `sourcebook up`."""

    process: "subprocess.Popen[str]"
    port: int

    def program(self, name: str) -> psutil.Process:
        """Return the process that does the work: the innermost one of its command line."""
        found = [
            each for each in family(self.process.pid)
            if PROGRAMS[name] in each.cmdline() and each.status() != psutil.STATUS_ZOMBIE
        ]  # fmt: skip
        (innermost,) = [each for each in found if not set(each.children(recursive=True)) & set(found)]
        return innermost

    def has_another(self, name: str, former: psutil.Process) -> bool:
        try:
            return self.program(name) != former
        except (psutil.Error, ValueError):  # between two processes
            return False

    def services(self) -> list[psutil.Process]:
        """Return its processes but the database server, which other processes may use."""
        return [each for each in family(self.process.pid)[1:] if "postgres" not in each.name()]

    def ask(self, query: str) -> Json:
        """Ask the web server's GraphQL; empty while it does not answer."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql", json.dumps({"query": query}).encode(),
            {"Content-Type": "application/json"},
        )  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - loopback
                found: Json = json.load(answer)["data"]
                return found
        except OSError:
            return {}

    def sensors_work_since(self, moment: float) -> bool:
        """Whether a sensor has been evaluated: by the daemon, in the code server, as the web server shows."""
        sensors: Any = self.ask(TICKS).get("sensorsOrError") or {}
        ticks = [tick for sensor in sensors.get("results", ()) for tick in sensor["sensorState"]["ticks"]]
        return any(tick["timestamp"] > moment and tick["status"] in {"SUCCESS", "SKIPPED"} for tick in ticks)


@contextmanager
def running_up(workplace: Workplace) -> Iterator[Up]:
    port = free_port()
    with workplace.start("up", "--port", str(port), "--json") as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline(), process.stderr and process.stderr.read()
            yield Up(process, port)
        finally:
            for each in family(process.pid) if process.poll() is None else []:
                each.kill()


@pytest.mark.timeout(900)
def test_killed_processes_are_replaced_and_none_outlives_a_killed_up(shared_workplace: Workplace) -> None:
    """Each works again and is named on the terminal; a second `up` is refused; after `kill -9` nothing is left."""
    shared_workplace.configure(handbook="docs")
    with running_up(shared_workplace) as up:
        said = shared_workplace.run("up", "--port", str(free_port()), code=1)
        assert f"another `sourcebook up` of this state folder is running (process {up.process.pid} since 20" in said

        wait_until(lambda: up.sensors_work_since(0), seconds=SECONDS, what="a sensor has been evaluated")
        doomed = {name: up.program(name) for name in PROGRAMS}
        for process in doomed.values():
            process.kill()
        for name, former in doomed.items():
            wait_until(partial(up.has_another, name, former), seconds=SECONDS, what=f"another {name}")
        time_of_restart = time.time()
        wait_until(lambda: up.sensors_work_since(time_of_restart), seconds=SECONDS, what="sensors are evaluated again")

        services = up.services()
        assert len(services) >= 2 * len(PROGRAMS)
        up.process.kill()
        _, alive = psutil.wait_procs(services, timeout=30)
        assert not alive, [each.cmdline() for each in alive]
        assert not listens(up.port)
        out, err = up.process.communicate(timeout=60)
    for name in PROGRAMS:
        assert f"the {name} was ended by SIGKILL; it starts again in" in err, out + err


@pytest.mark.timeout(900)
def test_a_killed_database_is_started_again_and_a_closed_terminal_stops_all(
    shared_workplace: Workplace,
) -> None:
    """After `kill -9` of the postmaster sensors are evaluated again; SIGHUP ends everything, the database included."""
    shared_workplace.configure(handbook="docs")
    data_folder = shared_workplace.home / "postgres"
    with running_up(shared_workplace) as up:
        (former,) = servers_of(data_folder)
        former.kill()
        wait_until(lambda: set(servers_of(data_folder)) - {former}, seconds=SECONDS, what="another database server")
        time_of_restart = time.time()
        wait_until(lambda: up.sensors_work_since(time_of_restart), seconds=SECONDS, what="sensors are evaluated again")

        services = up.services()
        os.kill(up.process.pid, signal.SIGHUP)
        out, err = up.process.communicate(timeout=120)
    assert up.process.returncode == 0, out + err
    assert "the embedded database ended; it is started again" in err
    assert "Traceback" not in err
    _, alive = psutil.wait_procs(services, timeout=1)
    assert not alive
    assert not servers_of(data_folder)
