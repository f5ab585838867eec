"""Memory of this process's children together, from the start of their own program."""

from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self

import psutil

_SECONDS_BETWEEN_LOOKS = 0.02
_LOOKS_BETWEEN_PSS = 5
"""Looks for each reading of PSS, which takes milliseconds for each gigabyte, and for each search for new children."""


class _Sampler(Thread):
    """Samples while it is a context, by `run`, until `_end` is set."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._end = Event()

    def __enter__(self) -> Self:
        """Begin to sample."""
        self.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """End."""
        self._end.set()
        self.join()


class ChildMemory(_Sampler):
    """Samples the memory of all child processes together, 50 times a second or ten (PSS), while it is a context."""

    def __init__(self) -> None:
        super().__init__()
        self.peak_pss = 0
        """Largest sum in bytes; a page that processes share counts once (PSS)."""
        self.peak_data = 0
        """Largest sum in bytes of what `RLIMIT_DATA` counts."""
        self._own = psutil.Process()
        self._running_own: dict[int, psutil.Process] = {}

    def run(self) -> None:
        """Sample until the end."""
        children: list[psutil.Process] = []
        for look in count():
            if self._end.wait(_SECONDS_BETWEEN_LOOKS):
                return
            is_full = not look % _LOOKS_BETWEEN_PSS
            children = self._children() if is_full else children
            self.peak_data = max(self.peak_data, sum(_data(child) for child in children))
            if is_full:
                self.peak_pss = max(self.peak_pss, sum(_pss(child) for child in children))

    def _children(self) -> list[psutil.Process]:
        """Return the children that run their own program: until then, one shows its parent's memory."""
        children = self._own.children(recursive=True)
        for child in children:
            with suppress(psutil.Error):
                if child.pid not in self._running_own and child.cmdline() != self._own.cmdline():
                    self._running_own[child.pid] = child
        return [self._running_own[child.pid] for child in children if child.pid in self._running_own]


def _data(child: psutil.Process) -> int:
    with suppress(psutil.Error):
        return int(child.memory_info().data)
    return 0


def _pss(child: psutil.Process) -> int:
    with suppress(psutil.Error):
        return int(child.memory_full_info().pss)
    return 0


def server_memory(folder: Path) -> int:
    """Return the memory of the PostgreSQL server of a data folder in bytes; a page that processes share counts once."""
    server = psutil.Process(int((folder / "postmaster.pid").read_text(encoding="utf-8").split()[0]))
    return sum(_pss(process) for process in (server, *server.children(recursive=True)))


class ServerMemory(_Sampler):
    """Samples `server_memory` twice a second while it is a context; the server may start and stop meanwhile."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.peak = 0
        """Largest sum in bytes."""
        self._folder = folder

    def run(self) -> None:
        """Sample until the end."""
        while not self._end.wait(0.5):
            with suppress(OSError, ValueError, IndexError, psutil.Error):
                self.peak = max(self.peak, server_memory(self._folder))
