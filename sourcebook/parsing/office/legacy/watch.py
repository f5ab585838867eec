"""Run a program for a limited time, and no longer than the process that asked for it; needs nothing but Python.

Started as `python -I watch.py SECONDS PROGRAM ARGUMENT...` with a pipe to its stdin: it ends the program with
all that it started once the time is up, the pipe is closed, or it is told to terminate.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from typing import NoReturn

TOO_LONG = 124
"""What it exits with when the time was up."""
_LOOK_SECONDS = 0.1


def main() -> int:
    """Run the program of the command line; returns its exit code, or 124 where it was ended."""
    deadline = time.monotonic() + float(sys.argv[1])
    signal.signal(signal.SIGTERM, _terminate)
    process = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        while process.poll() is None:
            asker_is_gone = bool(select.select([sys.stdin], [], [], _LOOK_SECONDS)[0])
            if asker_is_gone or time.monotonic() > deadline:
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
