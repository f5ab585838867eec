"""Progress for a file or a pipe, where no bar can move: a line every ten seconds."""

import os
import sys
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from sourcebook.cli.output import without_controls

SECONDS = 10.0
"""Seconds between two lines."""


def is_terminal() -> bool:
    """Return whether stderr can show a bar that moves."""
    return sys.stderr.isatty() or bool(os.environ.get("FORCE_COLOR"))


@dataclass
class _Part:
    """The progress of one part of the work."""

    unit: str
    done: int = 0
    total: int = 0
    failed: int = 0
    first: int = 0
    """Items that were done when it was first heard of."""
    since: float = 0.0
    """Value of the monotonic clock at that moment."""
    moved: float = 0.0
    """Value of that clock when the last item was done."""

    @property
    def seconds_still(self) -> float:
        """Seconds since the last item, such as while a model is loaded; 0.0 up to the time between two lines."""
        still = time.monotonic() - self.moved
        return still if still > SECONDS else 0.0

    @property
    def rate(self) -> float:
        """Items a second; 0.0 while nothing moves, as a forecast would grow with the time that is waited."""
        if self.seconds_still:
            return 0.0
        return (self.done - self.first) / max(time.monotonic() - self.since, 0.1)

    @property
    def seconds_left(self) -> float | None:
        """Forecast of the seconds until all items that are known are done; None where nothing is done yet."""
        return (self.total - self.done) / self.rate if self.rate else None

    def line(self, name: str) -> str:
        """Return the progress in words: `chunks 1,280 of 5,039 documents (85 a second)`."""
        rate = f"{self.rate:,.{0 if self.rate >= 10 else 1}f} a second" if self.rate >= 0.05 else ""
        still = f"nothing new for {self.seconds_still:,.0f} s" if self.seconds_still else ""
        beside = ", ".join(filter(None, (rate, still, f"{self.failed:,} failed" if self.failed else "")))
        unit = self.unit if self.unit != name else ""
        return f"{name} {self.done:,} of {self.total:,} {unit}".strip() + (f" ({beside})" if beside else "")


class ProgressLines:
    """The parts of the work that are under way, in one line each ten seconds on stderr, also where none has moved."""

    def __init__(self) -> None:
        self._title = ""
        self._parts: dict[str, _Part] = {}
        self._begun = time.monotonic()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write_lines, name="progress-lines", daemon=True)

    def __enter__(self) -> Self:
        """Begin to write."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Write no more lines."""
        self._ended.set()
        self._thread.join()

    def begin(self, title: str) -> None:
        """Forget the parts of what was done before, and put a title before the next lines."""
        with self._lock:
            self._title, self._parts, self._begun = title, {}, time.monotonic()

    def show(self, part: str, done: int, total: int, *, unit: str = "", failed: int = 0) -> None:
        """Note the progress of a part."""
        with self._lock:
            now = time.monotonic()
            known = self._parts.setdefault(part, _Part(unit, first=done, since=now, moved=now))
            if done > known.done:
                known.moved = now
            known.done, known.total, known.failed = done, total, failed

    def line(self) -> str:
        """Return the line of this moment; empty where no work has begun."""
        with self._lock:
            under_way = {name: each for name, each in self._parts.items() if each.done < each.total}
            words = ", ".join(each.line(name) for name, each in under_way.items())
            left = [seconds for each in under_way.values() if (seconds := each.seconds_left) is not None]
            if left:
                words += f"; about {max(left):,.0f} s remaining"
            if not self._title:
                return ""
            return f"{self._title}: {words or f'at work for {time.monotonic() - self._begun:,.0f} s'}"

    def _write_lines(self) -> None:
        while not self._ended.wait(SECONDS):
            if line := self.line():
                sys.stderr.write(without_controls(line) + "\n")
                sys.stderr.flush()
