"""Supervision of processes: those that end are started again with back-off, and none outlives the supervisor.

One line adds a process: `supervisor.start(Service("name", [program, ...]))`.
"""

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sourcebook.errors import SourcebookError
from sourcebook.model.closing import Closing
from sourcebook.processes import keeper

MOST_QUICK_ENDS: Final = 5
"""Ends in a row, each soon after the start, after which a process is not started again."""
_QUICK_SECONDS: Final = 60.0
"""Seconds after its start up to which the end of a process is a quick one."""
_FIRST_DELAY, _LONGEST_DELAY = 1.0, 30.0
"""Seconds before a process is started again: the first time, doubled with each quick end, and at most."""
_SECONDS_TO_START: Final = 120.0
"""Seconds until a process must answer after its first start."""
_SECONDS_TO_STOP: Final = keeper.ORDERLY_SECONDS + 10
"""Seconds that a process and its children get to end, before they are killed."""
MOST_LOG_BYTES: Final = 10_000_000
"""Size from which a log is rotated: it becomes the one old file, in the place of the last old one."""
_LOG_BYTES: Final = 2_000
"""Bytes from the end of a log that are searched for the last line."""
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
"""A terminal's sequence for a colour, which Dagster writes to its logs."""

_log = logging.getLogger(__name__)


class ServiceError(SourcebookError):
    """A process did not start, or ended again and again."""


@dataclass(frozen=True, slots=True)
class Service:
    """A program to supervise."""

    name: str
    command: Sequence[str]
    answers: Callable[[], bool] = lambda: True
    """Whether it does its work; asked until it is true after the first start."""


@dataclass(slots=True)
class _Running:
    """A service with its process, which is the keeper of the program and all its children."""

    service: Service
    log: Path
    process: subprocess.Popen[bytes]
    started: float
    quick_ends: int = 0
    restart_at: float | None = None
    """Time of the next start, while there is no process."""


@dataclass(slots=True)
class Supervisor(Closing):
    """Starts services, watches them, and ends them with all their children.

    Each service runs in a session of its own under a keeper, which ends it also where this process is killed.

    Args:
        folder: folder of the logs.
        working_directory: current folder of the services.
        environment: environment of the services.
        stopped: whether to stop.
        changed: called with the sessions, by the service's name, after each start.
    """

    folder: Path
    working_directory: Path
    environment: Mapping[str, str]
    stopped: Callable[[], bool]
    changed: Callable[[Mapping[str, int]], None] = lambda _: None
    _running: list[_Running] = field(default_factory=list)

    def start(self, service: Service) -> None:
        """Start a service and wait until it answers, or until it is time to stop.

        Raises:
            ServiceError: it exits or does not answer in time, or another service ended too often.
        """
        log = self.folder / f"{service.name.replace(' ', '_')}.log"
        log.write_bytes(b"")
        running = _Running(service, log, self._launch(service, log), time.monotonic())
        self._running.append(running)
        self._report()
        deadline = time.monotonic() + _SECONDS_TO_START
        while not self.stopped() and not service.answers():
            code = running.process.poll()
            if code is not None and _signal_of(code) is None:  # no matter of luck: another start ends as well
                raise ServiceError(f"the {service.name} {_ending(code)}: {_last_line(log)}")
            self.check()
            if time.monotonic() > deadline:
                raise ServiceError(f"the {service.name} does not answer after {_SECONDS_TO_START:.0f} s: see {log}")
            time.sleep(0.1)

    def restart(self, name: str) -> None:
        """End a service where it runs; `check` starts it again.

        Args:
            name: name of the service.
        """
        for running in self._running:
            if running.service.name == name and running.restart_at is None:
                running.process.send_signal(signal.SIGTERM)

    def check(self) -> None:
        """Take note of services that have ended, start those again whose delay has passed, and rotate large logs.

        Raises:
            ServiceError: a service ended too often.
        """
        now = time.monotonic()
        for running in self._running:
            _rotate(running.log)
            if running.restart_at is not None:
                if now >= running.restart_at:
                    running.process, running.started = self._launch(running.service, running.log), now
                    running.restart_at = None
                    self._report()
            elif (code := running.process.poll()) is not None:
                self._plan_restart(running, code, now)

    def close(self) -> None:
        """End all services, at the same time: SIGTERM first, SIGKILL after a while."""
        living = [running for running in self._running if running.process.poll() is None]
        for running in living:
            running.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + _SECONDS_TO_STOP
        for running in living:
            try:
                running.process.wait(max(deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                running.process.kill()
                running.process.wait()
        for running in living:
            keeper.end_session(running.process.pid, 0)  # what a killed keeper left
        for running in self._running:
            if running.process.stdin is not None:
                running.process.stdin.close()

    def _plan_restart(self, running: _Running, code: int, now: float) -> None:
        name = running.service.name
        keeper.end_session(running.process.pid, 0)
        if running.process.stdin is not None:
            running.process.stdin.close()
        running.quick_ends = running.quick_ends + 1 if now - running.started < _QUICK_SECONDS else 1
        if running.quick_ends >= MOST_QUICK_ENDS:
            raise ServiceError(
                f"the {name} {_ending(code)}, {running.quick_ends} times in a row within {_QUICK_SECONDS:.0f} s of its "
                f"start: {_last_line(running.log)}"
            )
        delay = min(_FIRST_DELAY * 2 ** (running.quick_ends - 1), _LONGEST_DELAY)
        running.restart_at = now + delay
        _log.warning("the %s %s; it starts again in %.0f s (its log: %s)", name, _ending(code), delay, running.log)

    def _launch(self, service: Service, log: Path) -> subprocess.Popen[bytes]:
        with log.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-I", keeper.__file__, *service.command],
                cwd=self.working_directory, env=self.environment, stdin=subprocess.PIPE, stdout=output, stderr=output,
                start_new_session=True,
            )  # fmt: skip

    def _report(self) -> None:
        self.changed({running.service.name: running.process.pid for running in self._running})


def listens(host: str, port: int) -> bool:
    """Return whether something listens on a port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


def free_port(host: str) -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _signal_of(code: int) -> signal.Signals | None:
    """Return the signal that ended a keeper, or its program; None after an exit."""
    number = -code if code < 0 else code - 128
    return signal.Signals(number) if number > 0 and number in signal.valid_signals() else None


def _ending(code: int) -> str:
    number = _signal_of(code)
    return f"ended with exit code {code}" if number is None else f"was ended by {number.name}"


def _rotate(log: Path) -> None:
    """Copy a log that has become large, and empty it: the service goes on appending to the same file."""
    with suppress(OSError):
        if log.stat().st_size <= MOST_LOG_BYTES:
            return
        with suppress(OSError):  # a full disk has no room for the old lines
            shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        os.truncate(log, 0)


def _last_line(log: Path) -> str:
    """Return the last line of a log with its path, or the path alone where the log is empty."""
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - _LOG_BYTES, 0))
        said = _COLOURS.sub("", file.read().decode(errors="replace")).strip().rpartition("\n")[2]
    return f"{said} (see its log {log})" if said else f"see its log {log}"
