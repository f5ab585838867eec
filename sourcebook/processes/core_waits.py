"""Seconds that processes waited for a core, which their time limits do not count; imports only the standard library."""

import contextlib
from pathlib import Path
from typing import Final

_NANOSECONDS: Final = 1e9


def seconds_waiting(process: int) -> float:
    """Return how long a process and its descendants were ready to run while every core was busy, since they began.

    Of the threads of a process, the one that waited longest counts. 0 where the system does not say it, as on macOS:
    Linux tells it in `/proc/PID/task/TID/schedstat`, whose second number are nanoseconds on a run queue.

    Args:
        process: id of the process.
    """
    longest, children = 0.0, set[int]()
    with contextlib.suppress(OSError, ValueError, IndexError):  # it may end meanwhile
        for thread in Path(f"/proc/{process}/task").iterdir():
            longest = max(longest, int((thread / "schedstat").read_text().split()[1]) / _NANOSECONDS)
            children |= set(map(int, (thread / "children").read_text().split()))
    return longest + sum(map(seconds_waiting, children))
