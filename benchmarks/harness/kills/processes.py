"""The processes of one home, by the system's process table."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

_SHORTEST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
"""Seconds between two looks at a condition."""


def processes_of(folder: Path, *, with_database: bool = True) -> list[psutil.Process]:
    """Return the processes that work with a home: by current folder, command line or environment; zombies are left out.

    Args:
        folder: the folder of the home, of the configuration and of the files.
        with_database: whether PostgreSQL's processes count.
    """
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE or not (with_database or not _is_database(process)):
                continue
            if _names(process, str(folder)):
                found.append(process)
    return found


def wait_for_none(folder: Path, *, with_database: bool, seconds: float) -> list[str]:
    """Wait until no process works with a home, and return those that are left, as sentences."""
    left: list[psutil.Process] = []

    def none_is_left() -> bool:
        left[:] = processes_of(folder, with_database=with_database)
        return not left

    wait(none_is_left, seconds)
    return [f"process {each.pid} is left: {_words(each)}" for each in left]


def wait(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait until a condition is true; return whether it became true in time.

    A look that takes long is followed by a pause nine times as long, which leaves the cores to what is waited for.
    """
    deadline = time.monotonic() + seconds
    looked = time.monotonic()
    while not condition():
        now = time.monotonic()
        if now > deadline:
            return False
        time.sleep(min(max(9 * (now - looked), _SHORTEST_PAUSE), _LONGEST_PAUSE))
        looked = time.monotonic()
    return True


def family(pid: int) -> list[psutil.Process]:
    """Return a process and everything below it."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def backends(server_folder: Path) -> list[psutil.Process]:
    """Return the processes of a PostgreSQL that serve connections."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.name() == "postgres" and "[local]" in " ".join(process.cmdline()):
                parent = process.parent()
                if parent is not None and str(server_folder) in parent.cmdline():
                    found.append(process)
    return found


def _is_database(process: psutil.Process) -> bool:
    return process.name() in {"postgres", "pg_ctl", "initdb"}


def _names(process: psutil.Process, folder: str) -> bool:
    for read in (process.cwd, lambda: "\n".join(process.cmdline()), lambda: "\n".join(process.environ().values())):
        with suppress(psutil.AccessDenied):
            if folder in read():
                return True
    return False


def _words(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())[:200]
    except psutil.Error as error:
        return str(error)
