"""The PostgreSQL server of a data folder, as its pid file, its socket and the process table describe it."""

import os
import signal
import socket
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MARK: Final = "cluster_name=sourcebook"
"""Setting on the command line of a server that Sourcebook has started; another server is used, and never stopped."""
_PID_FILE: Final = "postmaster.pid"
_OPTIONS_FILE: Final = "postmaster.opts"
_SECONDS_TO_END: Final = 15.0
"""Seconds for an immediate shutdown; the server kills those of its processes that are left after five."""
_SECONDS_BETWEEN_LOOKS: Final = 0.005
_SECONDS_TO_ANSWER: Final = 1.0
"""Seconds for a connection to the socket of a server; the kernel accepts it even where the server is stopped."""


@dataclass(frozen=True, slots=True)
class Postmaster:
    """A running server: the lines of its pid file."""

    pid: int
    port: str
    socket_folder: str
    """Folder of its Unix socket; empty while the server starts, or where it listens on TCP alone."""
    host: str
    status: str
    """`starting`, `ready`, `standby` or `stopping`."""

    @property
    def is_ready(self) -> bool:
        """Whether it accepts connections."""
        return self.status in {"ready", "standby"}


def running_postmaster(folder: Path) -> Postmaster | None:
    """Return the server of a data folder; None where none runs, whatever a stale or partial pid file says.

    Args:
        folder: the data folder.
    """
    found = _read_pid_file(folder)
    if found is None:
        return None
    path = Path(found.socket_folder) / f".s.PGSQL.{found.port}"
    if found.socket_folder and _answers(path):
        return found
    return found if found.pid > 0 and _is_server_of(found.pid, folder) else None


def is_ours(folder: Path) -> bool:
    """Whether Sourcebook has started the server of a data folder."""
    try:
        return MARK in (folder / _OPTIONS_FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def end_postmaster(folder: Path, seconds: float) -> None:
    """End the server of a data folder, and wait for its end.

    PostgreSQL's fast shutdown comes first. A server that is still there gets an immediate one, after which its next
    start recovers. PostgreSQL 18 was once seen to hang after a fast shutdown during its recovery from a killed
    backend.

    Args:
        folder: the data folder.
        seconds: time limit of the fast shutdown.
    """
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        found = running_postmaster(folder)
        if found is None or found.pid <= 0:
            return
        with suppress(ProcessLookupError):
            os.kill(found.pid, number)
        deadline = time.monotonic() + (seconds if number == signal.SIGINT else _SECONDS_TO_END)
        while running_postmaster(folder) is not None and time.monotonic() < deadline:
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def clear_stale_files(folder: Path, socket_folder: Path) -> None:
    """Remove the pid files over which PostgreSQL refuses to start although no server of the folder runs.

    It overwrites the file of a dead process by itself, and then looks for survivors in the shared memory that the file
    names. It gives up over an empty or damaged file, and where another program has the process id now.

    Args:
        folder: data folder whose server does not run.
        socket_folder: folder of the server's Unix socket.
    """
    for path in (folder / _PID_FILE, *socket_folder.glob(".s.PGSQL.*.lock")):
        with suppress(FileNotFoundError):
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            number = _number(lines[0]) if lines else 0
            if number == 0 or _is_taken(abs(number)):
                path.unlink()


def _read_pid_file(folder: Path) -> Postmaster | None:
    try:
        text = (folder / _PID_FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    lines = [line.strip() for line in text.splitlines()][:8]
    lines += [""] * (8 - len(lines))
    pid, _, _, port, socket_folder, host, _, status = lines
    return Postmaster(_number(pid), port, socket_folder, host, status or "starting")


def _number(text: str) -> int:
    """Return the process id in a line, negative for a backend without a server; 0 where it is damaged."""
    text = text.strip()
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < 12 else 0


def _answers(path: Path) -> bool:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        probe.settimeout(_SECONDS_TO_ANSWER)
        try:
            probe.connect(str(path))
        except BlockingIOError:
            return True  # its queue of connections is full
        except TimeoutError:
            return True
        except (OSError, ValueError):
            return False
    return True


def _is_server_of(pid: int, folder: Path) -> bool:
    """Whether a process is PostgreSQL in a data folder: neither dead, nor a zombie, nor another program."""
    import psutil  # installed with the wheel, and needed here only

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE or not process.name().startswith("postgres"):
            return False
        try:
            return Path(process.cwd()) == folder.resolve()
        except psutil.AccessDenied:
            return True  # another user's PostgreSQL: better taken for the server of the folder than overwritten
    except psutil.Error:
        return False


def _is_taken(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
