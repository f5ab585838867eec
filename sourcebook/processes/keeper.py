"""Run a program whose processes all end with it, and with the owner of this process. Imports only the standard library.

Usage: `python -I keeper.py PROGRAM ARGUMENT...`, as the leader of a session of its own, with a pipe of the owner's as
stdin. The program and everything that it has started end when the program ends, when the pipe closes because the owner
has ended in whatever way, and on SIGTERM. Processes that leave the session are on their own, such as a database server.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

ORDERLY_SECONDS: Final = 20.0
"""Seconds that processes get to end after SIGTERM, before SIGKILL."""
_ORPHAN_SECONDS: Final = 5.0
"""Seconds that processes get whose owner, or whose program, has ended unexpectedly."""
_KILL_SECONDS: Final = 30.0
"""Seconds to wait for killed processes: the system frees their memory, and may wait for a disk."""
_CHECK_SECONDS: Final = 0.05
"""Seconds between two looks at processes that are ending."""
_LOOK_SECONDS: Final = 0.5
"""Seconds between two looks at all processes of the machine, while those that are ending are still there."""
_HAS_PROC: Final = Path("/proc/self/stat").exists()
"""Whether processes are listed as on Linux."""
_PR_SET_PDEATHSIG: Final = 1
"""Number of the `prctl` option that sets the signal at the parent's death, from linux/prctl.h."""


def main() -> int:
    """Run the program of the command line and return its exit status; 128 + N where signal N ended it."""
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    terminations: list[int] = []
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda number, _: terminations.append(number))
    for ignored in (signal.SIGHUP, signal.SIGINT):
        signal.signal(ignored, signal.SIG_IGN)
    # A program takes ignored signals over, and this one is to be interrupted like any other.
    program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, preexec_fn=_begin_program)
    seconds = _ORPHAN_SECONDS
    while program.poll() is None:
        ready, _, _ = select.select([sys.stdin.fileno(), woken], [], [])
        if woken in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(woken, 4096)
        if terminations:
            seconds = ORDERLY_SECONDS
            break
        if sys.stdin.fileno() in ready:
            break
    end_session(os.getsid(0), seconds, spare={os.getpid()}, reap=program.poll)
    status = program.wait()
    return status if status >= 0 else 128 - status


def end_session(session: int, seconds: float, *, spare: Iterable[int] = (), reap: object = None) -> bool:
    """End the processes of a session: SIGTERM to its programs, SIGKILL to whatever is left after a while.

    SIGTERM goes to the processes without a parent in the session, to the children of the spared ones, and to their
    children: the program, and what it runs. Deeper ones are ended by their parents, or have it sent when these have
    ended; so has a process that its parent starts while SIGTERM is on its way.

    Args:
        session: Id of the session, which is the process id of its leader.
        seconds: time limit of SIGTERM.
        spare: processes that stay.
        reap: function that takes note of an ended child of this process.

    Returns:
        Whether there was a process to end.
    """
    spared = set(spare)
    members = session_members(session, spared)
    roots = _roots(members)
    asked = roots | {pid for pid, parent in members.items() if parent in roots}
    for pid in asked:
        _send(pid, signal.SIGTERM)
    found = bool(members)
    now = time.monotonic()
    deadline, looks_at = now + seconds, now + _LOOK_SECONDS
    while members and now < deadline + _KILL_SECONDS:
        time.sleep(_CHECK_SECONDS)
        if callable(reap):
            reap()
        now = time.monotonic()
        if now < min(looks_at, deadline) and all(map(_runs, members)):
            continue
        looks_at = now + _LOOK_SECONDS
        # One that ends during a look may have started another after the list of processes was made.
        members = session_members(session, spared) or session_members(session, spared)
        for pid in _roots(members) - asked:
            asked.add(pid)
            _send(pid, signal.SIGTERM)
        if now > deadline:
            for pid in members:
                _send(pid, signal.SIGKILL)
    return found


def _roots(members: dict[int, int]) -> set[int]:
    """Return the processes whose parent is none of them."""
    return {pid for pid, parent in members.items() if parent not in members}


def session_members(session: int, spare: Iterable[int] = ()) -> dict[int, int]:
    """Return the process ids of a session, each with its parent's; zombies are left out."""
    spared = set(spare)
    found = {}
    for pid, parent in _processes():
        with contextlib.suppress(OSError):
            if pid not in spared and os.getsid(pid) == session:
                found[pid] = parent
    return found


def _runs(pid: int) -> bool:
    """Return whether a process runs, as far as that is known at little cost."""
    return _HAS_PROC and _parent(pid) is not None


def _parent(pid: int | str) -> int | None:
    """Return the parent of a process, None where the process does not run; from Linux's /proc."""
    with contextlib.suppress(OSError):
        state, parent = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
        if state not in "ZX":
            return int(parent)
    return None


def _processes() -> Iterable[tuple[int, int]]:
    """Yield each process that runs with its parent."""
    if _HAS_PROC:
        for entry in os.listdir("/proc"):  # noqa: PTH208 - names alone are needed
            if entry.isdigit() and (parent := _parent(entry)) is not None:
                yield int(entry), parent
        return
    listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        pid, parent_pid, status = line.split(None, 2)
        if not status.startswith("Z"):
            yield int(pid), int(parent_pid)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):  # it has ended, or belongs to another user
        os.kill(pid, number)


def _begin_program() -> None:
    """Set up the child before it becomes the program: the usual signals, and SIGKILL at the death of this process."""
    for usual in (signal.SIGHUP, signal.SIGINT):
        signal.signal(usual, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    raise SystemExit(main())
