"""Run a program for a limited time, and no longer than the parent process.

Usage: `python -I watch.py SECONDS PROGRAM ARGUMENT...` with a pipe as stdin. The program and all processes that it
started end when the time is up, without the time that they wait for a core, when the pipe closes, and on SIGTERM.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[4]))  # `-I` leaves out the folder of a checkout

from sourcebook.processes.core_waits import seconds_waiting

TOO_LONG = 124
"""Exit code when the time was up."""
_POLL_SECONDS = 0.1
"""Interval between checks of the program and the pipe."""


def main() -> int:
    """Run the program of the command line and return its exit code, or 124 where the time was up."""
    deadline = time.monotonic() + float(sys.argv[1])
    signal.signal(signal.SIGTERM, _terminate)
    process = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        while process.poll() is None:
            parent_is_gone = bool(select.select([sys.stdin], [], [], _POLL_SECONDS)[0])
            late = time.monotonic() - deadline
            if parent_is_gone or (late > 0 and late > seconds_waiting(process.pid)):
                return TOO_LONG
        return process.returncode
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _terminate(_signal: int, _frame: object) -> NoReturn:
    raise SystemExit(TOO_LONG)


if __name__ == "__main__":
    raise SystemExit(main())
