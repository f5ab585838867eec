"""Memory that the processes of this machine may use; a container may have less than the machine."""

import os
from pathlib import Path

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


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
