"""The file by which one `sourcebook up` knows another: who runs, and what a killed one may have left running."""

import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Final

import psutil

from sourcebook.config.paths import make_private_folder
from sourcebook.errors import SourcebookError
from sourcebook.model.closing import Closing
from sourcebook.processes import keeper

_SECONDS_FOR_LEFT: Final = 10.0
"""Seconds that processes of a killed `up` get to end, before they are killed."""
MARK: Final = "UP_OF_SOURCEBOOK"
"""Environment variable of the services with the mark of their `up`: it tells them from processes with reused ids."""


class AlreadyUpError(SourcebookError):
    """Another `sourcebook up` of the same state folder is running."""


class UpRecord(Closing):
    """The record of the running `up`, locked as long as it runs, however it ends.

    Args:
        path: path of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        make_private_folder(path.parent)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self.mark = secrets.token_hex(8)

    def claim(self, *, port: int, tell: Callable[[str], None]) -> None:
        """Become the one `up` of the state folder, and end what an earlier one left running.

        Args:
            port: port of the web server.
            tell: called with a sentence where there is something to end.

        Raises:
            AlreadyUpError: another one runs.
        """
        try:
            flock(self._file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise AlreadyUpError(_describe(self._read())) from None
        former = self._read()
        for name, session in _left(former):
            tell(f"ending the {name} that an earlier `sourcebook up` (process {former.get('pid')}) left running")
            keeper.end_session(session, _SECONDS_FOR_LEFT)
        self._own: dict[str, object] = {"pid": os.getpid(), "started": time.time(), "port": port, "mark": self.mark}
        self.record({})

    def record(self, sessions: Mapping[str, int]) -> None:
        """Record the services.

        Args:
            sessions: ids of the services' sessions by the service's name.
        """
        line = json.dumps({**self._own, "services": dict(sessions)}).encode() + b"\n"
        os.pwrite(self._file, line, 0)
        os.ftruncate(self._file, len(line))

    def close(self) -> None:
        """Let the next one run."""
        os.close(self._file)

    def _read(self) -> Mapping[str, object]:
        """Return the record; empty where there is none, or where a kill interrupted its writing."""
        try:
            found = json.loads(os.pread(self._file, 1 << 20, 0).partition(b"\n")[0])
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


def _left(record: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    """Yield the services of a record that still have processes, each with its session."""
    services, mark = record.get("services"), record.get("mark")
    if isinstance(services, dict):
        for name, session in services.items():
            if any(_mark_of(pid) == mark for pid in keeper.session_members(int(session))):
                yield str(name), int(session)


def _mark_of(pid: int) -> str:
    try:
        return psutil.Process(pid).environ().get(MARK, "")
    except psutil.Error:
        return ""


def _describe(record: Mapping[str, object]) -> str:
    started = record.get("started")
    since = (
        f" since {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(started))}" if isinstance(started, float) else ""
    )
    return (
        f"another `sourcebook up` of this state folder is running (process {record.get('pid', 'unknown')}{since}, "
        f"port {record.get('port', 'unknown')}): stop it first, or set SOURCEBOOK_HOME to another folder"
    )
