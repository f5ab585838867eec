"""The end of a child process with its parent, however the parent ends. Imports only the standard library."""

import ctypes
import os
import signal
import sys
import time
from threading import Thread
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
"""Number of the `prctl` option that sets the signal at the parent's death, from linux/prctl.h."""
_PARENT_CHECK_SECONDS: Final = 0.5
"""Seconds between two checks whether the parent process still runs, on systems without that signal."""


def end_with_parent(parent: int) -> None:
    """Have this process end as soon as its parent ends; return at once.

    Linux sends SIGKILL, which needs no cooperation: a thread of this process that watches its parent waits for the
    interpreter lock, and C code may hold that for seconds of processor time (19 s beside two busy programs). Linux
    sends it when the *thread* of the parent ends that started this process, so that thread must live as long as its
    process. Other systems have a thread that watches, and the delay.

    Args:
        parent: Process id of the parent.
    """
    if not send_signal_at_parent_death(signal.SIGKILL):
        Thread(target=_watch, args=(parent,), daemon=True).start()
    elif os.getppid() != parent:  # it ended before the signal was set
        os._exit(1)


def send_signal_at_parent_death(number: int) -> bool:
    """Have the system send this process a signal at its parent's death; return whether the system can.

    A program that this process executes in its place keeps the setting; processes that it starts do not.
    """
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0) == 0)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_SECONDS)
    os._exit(1)
