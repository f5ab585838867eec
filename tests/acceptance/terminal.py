"""A terminal in which a page of the documentation is typed: one shell a page, so that `cd` and `export` carry over."""

import os
import pty
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from tests.waiting import wait_until

_CONTROL: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_DONE: Final = re.compile(r"@done (\d+)")
SECONDS: Final = 240.0
"""How long one command may take on a busy machine."""


class Terminal:
    """A shell whose output is a terminal, and whose errors are a file."""

    def __init__(self, process: "subprocess.Popen[bytes]", shown: int, errors: Path) -> None:
        self._process, self._errors = process, errors
        self._read = bytearray()
        self._thread = threading.Thread(target=self._follow, args=(shown,), daemon=True)
        self._thread.start()

    def type(self, command: str, *, waits: bool = True) -> tuple[int | None, list[str]]:
        """Run a command; return its exit code and its lines, those of stderr first.

        Args:
            command: what is typed.
            waits: whether it ends; a server goes on, and has no exit code yet.
        """
        self._errors.write_bytes(b"")
        begin = len(self._read)
        stdin: IO[bytes] | None = self._process.stdin
        assert stdin is not None
        stdin.write(f'{{ {command}\n}} </dev/null 2>>"{self._errors}"; echo "@done $?"\n'.encode())
        stdin.flush()
        found = wait_until(lambda: _DONE.search(self._text(begin)), what=f"{command} has ended", seconds=SECONDS)
        assert found is not None
        return (int(found[1]) if waits else None), self.lines(begin)

    def lines(self, begin: int = 0) -> list[str]:
        """Return what was printed from a place on, those of stderr first; without blank lines and colours."""
        said = _CONTROL.sub("", self._errors.read_text("utf-8", errors="replace"))
        text = said + "\n" + _DONE.sub("", self._text(begin))
        return [" ".join(line.split()) for line in text.splitlines() if line.strip()]

    def _text(self, begin: int) -> str:
        return _CONTROL.sub("", bytes(self._read[begin:]).decode("utf-8", errors="replace"))

    def _follow(self, shown: int) -> None:
        with suppress(OSError):  # the end of a terminal's output
            while some := os.read(shown, 65536):
                self._read += some


@contextmanager
def terminal(folder: Path, environment: Mapping[str, str], errors: Path) -> Iterator[Terminal]:
    """Open a terminal in a folder; whatever still runs in it ends with it."""
    shown, output = pty.openpty()
    with subprocess.Popen(
        ["bash", "--noprofile", "--norc"], cwd=folder, env=dict(environment), stdin=subprocess.PIPE, stdout=output,
        stderr=subprocess.DEVNULL, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(output)
        try:
            yield Terminal(process, shown, errors)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
    os.close(shown)
