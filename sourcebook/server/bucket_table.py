"""Buckets of tokens in memory that the processes of a server share, so that a limit holds for all of them together.

A bucket is found by a name of sixteen bytes in one of 1,024 sets of sixteen places; where a set is full, the bucket
that was used longest ago is forgotten. The lock is the system's, which takes it back from a process that was killed.
"""

import fcntl
import math
import os
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from mmap import mmap
from typing import Final

TABLES: Final = 2
"""Tables of a server: of callers, and of wrong keys and the addresses that have sent them."""
WINDOW: Final = 60.0
"""Seconds that limits are counted for."""
NAME: Final = 16
"""Bytes of a name."""
_SETS: Final = 1_024
_PLACES: Final = 16
_VALUES: Final = struct.Struct("=ddd")
_SET: Final = _PLACES * (NAME + _VALUES.size)
"""Bytes of a set: the names, then the limit, the tokens and the time of each."""
_TABLE: Final = _SETS * _SET
_NOBODY: Final = bytes(NAME)
MOST_KEPT: Final = _SETS * _PLACES
"""Buckets of a table, at most."""


@dataclass(slots=True)
class Bucket:
    """Requests that one caller may still send."""

    limit: int
    """Requests a minute; 0 for a caller without a limit."""
    tokens: float
    filled_at: float

    def fill(self, now: float) -> None:
        """Add what has flowed in since the last time."""
        self.tokens = min(self.limit, self.tokens + max(0.0, now - self.filled_at) * self.limit / WINDOW)
        self.filled_at = now

    def take(self, now: float) -> bool:
        """Take a token; return whether there was one."""
        self.fill(now)
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    @property
    def seconds_to_next(self) -> int:
        """Seconds until there is a token."""
        return max(1, math.ceil((1 - self.tokens) * WINDOW / self.limit))

    @property
    def seconds_to_full(self) -> int:
        """Seconds until the bucket is full."""
        return math.ceil((self.limit - self.tokens) * WINDOW / self.limit)

    @property
    def headers(self) -> dict[str, str]:
        """Headers that tell a client: three that many know, and the two of the IETF's draft 10."""
        remaining, reset = int(self.tokens), self.seconds_to_full
        return {
            "ratelimit-limit": str(self.limit),
            "ratelimit-remaining": str(remaining),
            "ratelimit-reset": str(reset),
            "ratelimit-policy": f'"key";q={self.limit};w={WINDOW:.0f}',
            "ratelimit": f'"key";r={remaining};t={reset}',
        }


class SharedBuckets:
    """Tables of buckets in one piece of memory, under one lock. Thread-safe within `held`.

    Args:
        tables: number of tables.
        descriptor: open file that another process has made with `shared_file`; None for memory of this process alone.
    """

    def __init__(self, tables: int, descriptor: int | None = None) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._memory = mmap(-1 if descriptor is None else descriptor, tables * _TABLE)
        self.tables = tuple(BucketTable(self._memory, number * _TABLE) for number in range(tables))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock, for some microseconds."""
        with self._lock:
            if self._descriptor is None:
                yield
                return
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN)


class BucketTable:
    """Buckets by name; the caller holds the lock."""

    def __init__(self, memory: mmap, start: int) -> None:
        self._memory, self._start = memory, start

    def find(self, name: bytes) -> Bucket | None:
        """Return the bucket of a name; None where there is none."""
        first, place = self._place(name)
        if place is None:
            return None
        limit, tokens, filled_at = _VALUES.unpack_from(self._memory, _values_at(first, place))
        return Bucket(int(limit), tokens, filled_at)

    def keep(self, name: bytes, bucket: Bucket) -> None:
        """Write a bucket, in place of the one of its name or of the one that was used longest ago."""
        first, place = self._place(name)
        is_new = place is None
        if place is None:
            place = self._free_place(first)
            self._name(first, place, _NOBODY)  # whoever is killed here leaves no name with values of another one
        values = (float(bucket.limit), bucket.tokens, bucket.filled_at)
        _VALUES.pack_into(self._memory, _values_at(first, place), *values)
        if is_new:
            self._name(first, place, name)

    def forget(self, name: bytes) -> None:
        """Remove a bucket, where it is there."""
        first, place = self._place(name)
        if place is not None:
            self._name(first, place, _NOBODY)

    def __len__(self) -> int:
        """Return the number of buckets."""
        starts = range(self._start, self._start + _TABLE, _SET)
        return sum(self._read_name(first, place) != _NOBODY for first in starts for place in range(_PLACES))

    def _place(self, name: bytes) -> tuple[int, int | None]:
        """Return the start of the set of a name, and its place there."""
        first = self._start + int.from_bytes(name[:4], "little") % _SETS * _SET
        found = self._memory.find(name, first, first + _PLACES * NAME)
        while found >= 0 and (found - first) % NAME:  # the end of one name and the beginning of the next
            found = self._memory.find(name, found + 1, first + _PLACES * NAME)
        return first, None if found < 0 else (found - first) // NAME

    def _free_place(self, first: int) -> int:
        return min(range(_PLACES), key=lambda place: self._used_at(first, place))

    def _used_at(self, first: int, place: int) -> float:
        if self._read_name(first, place) == _NOBODY:
            return -math.inf
        used_at: float = _VALUES.unpack_from(self._memory, _values_at(first, place))[2]
        return used_at

    def _read_name(self, first: int, place: int) -> bytes:
        return self._memory[first + place * NAME : first + (place + 1) * NAME]

    def _name(self, first: int, place: int, name: bytes) -> None:
        self._memory[first + place * NAME : first + (place + 1) * NAME] = name


def _values_at(first: int, place: int) -> int:
    return first + _PLACES * NAME + place * _VALUES.size


def shared_file(tables: int) -> int:
    """Return an open file without a name for `SharedBuckets` of several processes; in memory where the system can.

    Raises:
        OSError: there is no room for it.
    """
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("sourcebook-limits")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    try:
        os.write(descriptor, bytes(tables * _TABLE))  # written, not only sized: the memory is there when it is used
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
