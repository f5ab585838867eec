"""Memory that processes of this machine may use, what is free of it, and what the C library keeps."""

import ctypes
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_CGROUP_USE = Path("/sys/fs/cgroup/memory.current")
_CGROUP_STATISTICS = Path("/sys/fs/cgroup/memory.stat")
_DROPPABLE = frozenset({"inactive_file", "slab_reclaimable"})
"""Parts of a container's memory that the kernel gives up before it kills: files that were read, and what it caches."""
_MEMORY_OF_THE_MACHINE = Path("/proc/meminfo")


def usable_memory(limit_file: Path = _CGROUP_LIMIT) -> int:
    """Return the least of the machine's memory and the container's limit, in bytes; 0 where neither is known.

    Args:
        limit_file: the cgroup's `memory.max`: bytes, or `max`.
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
    meminfo: Path = _MEMORY_OF_THE_MACHINE,
    limit_file: Path = _CGROUP_LIMIT,
    use_file: Path = _CGROUP_USE,
    statistics_file: Path = _CGROUP_STATISTICS,
) -> int | None:
    """Return the bytes that a new process could use without swapping; None where the system does not say.

    Args:
        meminfo: the file that Linux describes its memory in; caches that can be dropped count as free.
        limit_file: the cgroup's `memory.max`: bytes, or `max`.
        use_file: the cgroup's `memory.current`, in bytes, caches included.
        statistics_file: the cgroup's `memory.stat`, which says how much of them can be dropped.
    """
    free = [number * 1_024 for number in _numbers(meminfo, frozenset({"MemAvailable:"}))]
    with suppress(OSError, ValueError):  # no limit: no such file, or the word "max"
        used = int(use_file.read_text(encoding="ascii")) - sum(_numbers(statistics_file, _DROPPABLE))
        free.append(max(int(limit_file.read_text(encoding="ascii")) - max(used, 0), 0))
    return min(free, default=None)


def _numbers(file: Path, names: frozenset[str]) -> list[int]:
    """Return the numbers behind names in a file with one on each line; none where it cannot be read."""
    try:
        lines = [line.split() for line in file.read_text(encoding="ascii").splitlines()]
        return [int(words[1]) for words in lines if words and words[0] in names]
    except (OSError, ValueError, IndexError):
        return []


_TRIM_THRESHOLD: Final = -1
_TOP_PAD: Final = -2
_MMAP_THRESHOLD: Final = -3
"""Parameters of glibc's mallopt."""
_LARGE: Final = 262_144
"""Bytes of memory that is given back as soon as it is freed."""
_KEPT: Final = 256 * 2**20
"""Bytes of freed memory that are kept for what comes next."""
_STEP: Final = 16 * 2**20
_LARGEST: Final = 32 * 2**20
"""Bytes up to which glibc lets a piece be kept."""


def return_freed_memory() -> None:
    """Give memory that is freed back to the system, where the C library keeps it, as glibc does."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def return_large_pieces_at_once() -> None:
    """Have glibc give large pieces of memory back as soon as they are freed, however many have been freed before.

    By itself it keeps ever larger ones: after a page of 2 MB, whatever later pages free.
    """
    options = getattr(ctypes.CDLL(None), "mallopt", None)
    if options is not None:
        options(_MMAP_THRESHOLD, _LARGE)
        options(_TRIM_THRESHOLD, _LARGE)


def keep_freed_memory() -> None:
    """Have glibc keep freed memory for the next pieces: the system clears every page that it gives again.

    A model frees and takes some megabytes in each layer. With 420 texts in two threads there were 280,000 page faults,
    a tenth of the processor time; with this, 45,000.
    """
    options = getattr(ctypes.CDLL(None), "mallopt", None)
    if options is not None:
        options(_TRIM_THRESHOLD, _KEPT)
        options(_MMAP_THRESHOLD, _LARGEST)
        options(_TOP_PAD, _STEP)
