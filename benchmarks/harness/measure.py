"""A program as a measured child process: wall time, memory of all its processes, their command lines."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

_SAMPLES_A_SECOND = 20
_SAMPLES_BETWEEN_LOOKS = 5
"""Samples between two searches for new processes, which cost more than reading the memory of known ones."""
_SAMPLES_BETWEEN_SERVER_READINGS = 20


class ChildFailedError(Exception):
    """A measured program failed; the message has the end of its output."""


@dataclass(frozen=True)
class Measurement:
    """Cost of one run of a program."""

    seconds: float
    """Seconds from its start to its end, imports included."""
    peak_tree: int
    """Bytes: the largest sum of resident memory over the program and its children, sampled 20 times a second. Pages
    that processes share count for each of them. The embedded PostgreSQL is not in it."""
    peak_process: int
    """Bytes: the largest resident memory of any one of its processes, by the system's own account (ru_maxrss)."""
    peak_server: int
    """Bytes: the embedded PostgreSQL's processes, shared pages counted once (PSS), sampled once a second."""
    commands: tuple[str, ...]
    """The command line of every process seen in the tree."""
    output: str
    processor: float = 0.0
    """Seconds of processor time of all its processes; the embedded PostgreSQL is not in it."""


@dataclass
class _Watch:
    """Samples a tree of processes while it runs."""

    root: int
    server_folder: Path | None
    peak_tree: int = 0
    peak_server: int = 0
    _known: dict[int, psutil.Process | None] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)

    def look(self) -> None:
        """Find new processes; PostgreSQL's are counted separately."""
        with suppress(psutil.Error):
            for process in psutil.Process(self.root).children(recursive=True):
                if process.pid in self._known:
                    continue
                with suppress(psutil.Error):
                    name = process.name()
                    self._known[process.pid] = None if name in {"postgres", "pg_ctl", "initdb"} else process
                    self.commands.append(" ".join(process.cmdline()))

    def sample(self) -> None:
        """Add up the memory of the tree now."""
        total = 0
        for process in self._known.values():
            if process is not None:
                with suppress(psutil.Error):
                    total += process.memory_info().rss
        self.peak_tree = max(self.peak_tree, total)

    def sample_server(self) -> None:
        """Add up the memory of the embedded server now."""
        total = 0
        if self.server_folder is not None:
            with suppress(OSError, ValueError, IndexError, psutil.Error):
                lines = (self.server_folder / "postmaster.pid").read_text(encoding="utf-8").splitlines()
                postmaster = psutil.Process(int(lines[0]))
                for process in (postmaster, *postmaster.children()):
                    with suppress(psutil.Error):
                        details = process.memory_full_info()
                        total += getattr(details, "pss", details.rss)
        self.peak_server = max(self.peak_server, total)


def run(
    command: Sequence[str], env: Mapping[str, str], *, server_folder: Path | None = None, accept: Sequence[int] = (0,)
) -> Measurement:
    """Run a command to its end.

    Args:
        command: program and arguments.
        env: its whole environment.
        server_folder: the data folder of the embedded PostgreSQL that it uses.
        accept: exit codes that are not an error.

    Raises:
        ChildFailedError: it ended with another exit code.
    """
    with tempfile.TemporaryDirectory(prefix="sourcebook-measure-") as name:
        folder = Path(name)
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            launcher = subprocess.Popen(
                [
                    sys.executable,
                    "-S",
                    "-E",
                    str(Path(__file__).with_name("launch.py")),
                    str(folder / "cost"),
                    *command,
                ],
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                watch = _watch(launcher, server_folder)
            finally:
                if launcher.poll() is None:
                    with suppress(ProcessLookupError):
                        os.killpg(launcher.pid, signal.SIGKILL)
                    launcher.wait()
        cost = json.loads((folder / "cost").read_text(encoding="utf-8"))
        output = (folder / "out").read_text(encoding="utf-8", errors="replace")
        if cost["status"] not in accept:
            words = (folder / "err").read_text(encoding="utf-8", errors="replace").strip() or output
            message = f"{' '.join(command)} ended with {cost['status']}: {words[-2000:]}"
            raise ChildFailedError(message)
    return Measurement(
        cost["seconds"],
        max(watch.peak_tree, cost["peak_bytes"]),
        cost["peak_bytes"],
        watch.peak_server,
        tuple(watch.commands),
        output,
        cost["processor"],
    )


def _watch(launcher: "subprocess.Popen[bytes]", server_folder: Path | None) -> _Watch:
    watch = _Watch(launcher.pid, server_folder)
    samples = 0
    while launcher.poll() is None:
        if samples % _SAMPLES_BETWEEN_LOOKS == 0:
            watch.look()
        if samples % _SAMPLES_BETWEEN_SERVER_READINGS == _SAMPLES_BETWEEN_SERVER_READINGS // 2:
            watch.sample_server()
        watch.sample()
        samples += 1
        time.sleep(1 / _SAMPLES_A_SECOND)
    return watch
