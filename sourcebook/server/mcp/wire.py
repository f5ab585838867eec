"""The wire of the protocol: standard input and output, out of reach for whatever else prints or reads."""

import fcntl
import os
import sys
from typing import BinaryIO, Final

Wire = tuple[BinaryIO, BinaryIO]
"""Stream of requests, stream of answers."""
_FIRST_FREE: Final = 3
"""Number of the first descriptor that is no standard stream."""


def take_wire() -> Wire:
    """Return the standard input and output, and leave others in their places.

    From now on what the process, its libraries and its children print goes to standard error, and what they read is
    empty. Nothing else holds the streams returned, which no child inherits.
    """
    sys.stdout.flush()
    reading, writing = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE) for number in (0, 1))
    nothing = os.open(os.devnull, os.O_RDWR)  # takes the number of standard error where that is closed
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    if nothing >= _FIRST_FREE:
        os.close(nothing)
    return os.fdopen(reading, "rb"), os.fdopen(writing, "wb")
