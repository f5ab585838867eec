"""`sourcebook up`: embedded database, code server, web server and daemon, started and stopped together."""

import gc
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import psutil

from orchestration.instance import open_instance, prepare_dagster_home
from sourcebook.config.loading import Configuration, sourcebook_home
from sourcebook.database.database import Database
from sourcebook.errors import SourcebookError

if TYPE_CHECKING:
    from collections.abc import Iterator

CODE_LOCATION = Path(__file__).resolve().parents[1]
"""Folder of `orchestration`, `assets`, `sensors` and `resources`: a checkout's, or one in the installed library."""
_HOST = "127.0.0.1"
_WORKSPACE = """\
load_from:
  - grpc_server:
      host: {host}
      port: {port}
      location_name: sourcebook
"""
_SECONDS_TO_START = 120.0
_SECONDS_TO_STOP = 20.0


class ServiceError(SourcebookError):
    """A process did not start, or ended unexpectedly."""


@dataclass(frozen=True, slots=True)
class Service:
    """A process with its children, in a process group of its own."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path

    def check(self) -> None:
        """Raise `ServiceError` where the process has ended."""
        code = self.process.poll()
        if code is not None:
            raise ServiceError(f"the {self.name} ended with exit code {code}; see its log {self.log}")


def up(
    configuration: Configuration, database: Database, *, port: int, ready: Callable[[str], None], host: str = _HOST
) -> None:
    """Serve until SIGINT or SIGTERM, or until a process ends unexpectedly; leave no process behind.

    Args:
        configuration: the configuration to serve.
        database: an open database, closed by the caller.
        port: the port of the web server.
        ready: called once with the URL of the web page.
        host: the address on which the web server listens.

    Raises:
        ServiceError: the port is taken, or a process does not start or ends unexpectedly.
    """
    home = sourcebook_home(configuration.path)
    folder = prepare_dagster_home(home, database)
    open_instance(home, database).dispose()  # creates Dagster's tables before two processes try to
    environment = {
        **os.environ,
        "SOURCEBOOK_CONFIG": str(configuration.path),
        "SOURCEBOOK_HOME": str(home.absolute()),
        "PYTHONUNBUFFERED": "1",
    }
    if not _is_free(host, port):
        raise ServiceError(f"port {port} is taken: stop the process that listens there, or choose another with --port")
    code_port = _free_port()
    workspace = folder / "workspace.yaml"
    workspace.write_text(_WORKSPACE.format(host=_HOST, port=code_port), encoding="utf-8")
    python = [sys.executable, "-m"]
    gc.enable()
    with _stopping_on_signals() as stopped, ExitStack() as running:
        code = _start(running, "code server", folder, environment, [
            *python, "dagster", "code-server", "start", "-h", _HOST, "-p", str(code_port),
            "--use-python-environment-entry-point",
            "-m", "orchestration.definitions", "--location-name", "sourcebook", "-d", str(CODE_LOCATION),
        ])  # fmt: skip
        _wait(lambda: not _is_free(_HOST, code_port), [code], stopped)
        web = _start(running, "web server", folder, environment, [
            *python, "dagster_webserver", "-h", host, "-p", str(port), "-w", str(workspace),
        ])  # fmt: skip
        daemon = _start(
            running, "daemon", folder, environment, [*python, "dagster._daemon", "run", "-w", str(workspace)]
        )
        services = [code, web, daemon]
        _wait(lambda: not _is_free(host, port), services, stopped)
        if not stopped():
            ready(f"http://{host}:{port}")
        while not stopped():
            for service in services:
                service.check()
            time.sleep(0.5)


@contextmanager
def _stopping_on_signals() -> "Iterator[Callable[[], bool]]":
    """Yield a function that returns whether SIGINT or SIGTERM has arrived, so that processes are stopped in order."""
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _start(running: ExitStack, name: str, folder: Path, environment: Mapping[str, str], command: list[str]) -> Service:
    log = folder / f"{name.replace(' ', '_')}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=CODE_LOCATION, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
    service = Service(name, process, log)
    running.callback(_stop, service)
    return service


def _stop(service: Service) -> None:
    """Stop a process and its children: SIGTERM first, SIGKILL after a while."""
    try:
        family = [psutil.Process(service.process.pid), *psutil.Process(service.process.pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        family = []
    for process in family[:1]:
        process.terminate()
    _, alive = psutil.wait_procs(family, timeout=_SECONDS_TO_STOP)
    for process in alive:
        process.kill()
    psutil.wait_procs(alive, timeout=_SECONDS_TO_STOP)
    service.process.wait()


def _wait(reached: Callable[[], bool], services: list[Service], stopped: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS_TO_START
    while not reached() and not stopped():
        for service in services:
            service.check()
        if time.monotonic() > deadline:
            raise ServiceError(f"the {services[-1].name} does not answer after {_SECONDS_TO_START:.0f} s: "
                               f"see {services[-1].log}")  # fmt: skip
        time.sleep(0.1)


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) != 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])
