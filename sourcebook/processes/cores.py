"""Numbers of processor cores and threads that this process may use; a container may have fewer than the machine."""

import os
from math import ceil
from pathlib import Path

_CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")
THREADS_VARIABLE = "OMP_NUM_THREADS"
"""Environment variable with the threads of OpenMP; for nested regions, a list with commas."""
_shared_by = 1
"""Processes that divide the cores among them, this one included."""


def divide_cores(processes: int) -> None:
    """Count as many cores for this process as it has beside others that do the same work.

    Args:
        processes: number of the processes, this one included.
    """
    global _shared_by
    _shared_by = processes


def usable_cores(quota_file: Path = _CGROUP_QUOTA) -> int:
    """Count the cores: the least of the scheduling affinity and the container's quota, at least 1.

    Processes that divide the cores, as workers of shards do, have a part of them.

    Args:
        quota_file: the cgroup's `cpu.max`: microseconds it may run in each period (or `max`), and the period.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    try:
        quota, period = quota_file.read_text(encoding="ascii").split()
        cores = min(cores, ceil(int(quota) / int(period)))
    except (OSError, ValueError):  # no quota: no such file, or the word "max"
        pass
    return max(cores // _shared_by, 1)


def usable_threads() -> int:
    """Count the threads that a model computes with: `OMP_NUM_THREADS` where it is set, else one for each core."""
    try:
        return max(int(os.environ[THREADS_VARIABLE].partition(",")[0]), 1)
    except (KeyError, ValueError):
        return usable_cores()
