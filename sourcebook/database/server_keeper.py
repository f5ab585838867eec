"""A process that keeps the embedded server running for another process, which uses it for moments at a time.

Usage: `python -m sourcebook.database.server_keeper DATA_FOLDER` with a pipe as stdin. It ends when the pipe closes, and
with it the server where no other process uses that.
"""

import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType

from sourcebook.database.embedded import EmbeddedServer, is_in_use
from sourcebook.errors import DatabaseError, SourcebookError

_lock = threading.Lock()
_keepers: "dict[Path, subprocess.Popen[bytes]]" = {}
"""Keepers that this process has started, by data folder; each ends with this process."""


def keep_running(folder: Path) -> None:
    """Have a child process hold the embedded server until this process ends, unless another process holds it.

    Sensors ask several times a minute: the server would start and stop for each of them.

    Args:
        folder: the data folder.

    Raises:
        DatabaseError: the server cannot be started.
    """
    with _lock:
        keeper = _keepers.get(folder)
        if keeper is not None:
            if keeper.poll() is None:
                return
            _release(_keepers.pop(folder))
        if is_in_use(folder):
            return
        keeper = subprocess.Popen(
            [sys.executable, "-m", __name__, str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        if keeper.stdout is None or (said := keeper.stdout.readline()) != b"\n":
            _release(keeper)
            reason = said.decode(errors="replace").strip() or f"its keeper ended with {keeper.returncode}"
            raise DatabaseError(reason)
        _keepers[folder] = keeper


def _release(keeper: "subprocess.Popen[bytes]") -> None:
    for pipe in (keeper.stdin, keeper.stdout):
        if pipe is not None:
            pipe.close()
    keeper.wait()


def main() -> None:
    """Hold the server until stdin closes, or on SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the other process's, which ends and closes the pipe
    signal.signal(signal.SIGTERM, _end)
    try:
        server = EmbeddedServer(Path(sys.argv[1]))
    except SourcebookError as error:
        sys.stdout.write(f"{error}\n")
        sys.exit(1)
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
        sys.stdin.buffer.read()
    finally:
        server.close()


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
