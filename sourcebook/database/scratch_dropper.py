"""A process that drops a scratch database when another process ends.

Usage: `python -m sourcebook.database.scratch_dropper` with a pipe as stdin. It reads the name of the database and the
URL of another one on its server, waits until the pipe closes, drops the database, and ends.
"""

import signal
import sys
from contextlib import suppress

from sourcebook.database.scratch import drop
from sourcebook.errors import DatabaseError


def main() -> None:
    """Wait for the end of stdin, and drop the database."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends with the pipe
    name, url = (sys.stdin.readline().rstrip("\n") for _ in range(2))
    sys.stdin.read()
    if url:
        with suppress(DatabaseError):  # the next scratch database drops what is left
            drop(url, name)


if __name__ == "__main__":
    main()
