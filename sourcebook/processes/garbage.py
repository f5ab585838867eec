"""The collector of garbage at the end of a process. Imports next to nothing: short commands begin with it."""

import atexit
import gc
import sys


def skip_last_look() -> None:
    """Have the interpreter not look for garbage at its end, among a million objects that go with the process.

    triton has objects that complain in dozens of lines on standard error where nobody collects them.
    """
    atexit.register(_freeze)


def _freeze() -> None:
    if "triton" not in sys.modules:
        gc.freeze()
