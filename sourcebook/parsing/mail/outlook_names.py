"""Properties that Outlook numbers file by file: time and place of appointments and tasks (MS-OXOCAL, MS-OXOTASK)."""

import struct
from collections.abc import Iterator, Mapping
from typing import Final

from oxmsg.storage import Storage

_NAMES: Final = "__nameid_version1.0"
_SETS, _ENTRIES = "__substg1.0_00020102", "__substg1.0_00030102"
_APPOINTMENT, _TASK = (bytes.fromhex(f"{number}20060000000000c000000000000046") for number in ("02", "03"))
STARTS: Final = ((_APPOINTMENT, 0x820D), (_TASK, 0x8104))
ENDS: Final = ((_APPOINTMENT, 0x820E), (_TASK, 0x8105))
PLACE: Final = ((_APPOINTMENT, 0x8208),)
_FIRST_SET: Final = 3
"""Index of the first set of properties that the file lists; those below are Outlook's own."""

Name = tuple[bytes, int]
"""Set of properties, and the number in it."""


def named_properties(storage: Storage) -> Mapping[Name, int]:
    """Return the numbers that a message in the root storage of a file gives the properties of sets."""
    return dict(_named(storage))


def _named(storage: Storage) -> Iterator[tuple[Name, int]]:
    held = next((inner for inner in storage.storages if inner.name == _NAMES), None)
    streams = {stream.name: stream.bytes_ for stream in held.streams} if held is not None else {}
    sets, entries = streams.get(_SETS, b""), streams.get(_ENTRIES, b"")
    for number, info, index in struct.iter_unpack("<IHH", entries[: len(entries) // 8 * 8]):
        at = (info >> 1) - _FIRST_SET
        if not info & 1 and at >= 0:
            yield (sets[16 * at : 16 * at + 16], number), 0x8000 + index
