"""Memory that the processes of this machine may use, and what is free of it; a container may have less."""

import os
from contextlib import suppress
from pathlib import Path

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_CGROUP_USE = Path("/sys/fs/cgroup/memory.current")
_MEMORY_OF_THE_MACHINE = Path("/proc/meminfo")


def usable_memory(limit_file: Path = _CGROUP_LIMIT) -> int:
    """Return the least of the machine's memory and the container's limit, in bytes; 0 where neither is known.

    Args:
        limit_file: The cgroup's `memory.max`: bytes, or `max`.
    """
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        memory = 0
    try:
        limit = int(limit_file.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no limit: no such file, or the word "max"
        return max(memory, 0)
    return min(memory, limit) if memory > 0 else limit


def free_memory(
    meminfo: Path = _MEMORY_OF_THE_MACHINE, limit_file: Path = _CGROUP_LIMIT, use_file: Path = _CGROUP_USE
) -> int | None:
    """Return the bytes that a new process could use without swapping; None where the system does not say.

    Args:
        meminfo: The file that Linux describes its memory in; caches that can be dropped count as free.
        limit_file: The cgroup's `memory.max`: bytes, or `max`.
        use_file: The cgroup's `memory.current`, in bytes.
    """
    free = []
    try:
        for line in meminfo.read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                free.append(int(value.split()[0]) * 1_024)
    except (OSError, ValueError, IndexError):
        free = []
    with suppress(OSError, ValueError):  # no limit: no such file, or the word "max"
        free.append(max(int(limit_file.read_text(encoding="ascii")) - int(use_file.read_text(encoding="ascii")), 0))
    return min(free, default=None)
