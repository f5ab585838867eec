"""The keeper of a program: nothing that the program has started outlives it, its keeper or their owner."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from sourcebook.processes import keeper
from tests.waiting import is_running, seconds_until_gone

FAMILY = "sleep 600 & echo $! $$; wait"
"""A shell with a child; it prints both process ids."""
STUBBORN = "trap '' TERM; sh -c 'sleep 600; sleep 600' & echo $! $$; wait; wait; sleep 600"
"""A family that SIGTERM does not end: of the child, only its first `sleep`."""


class Kept:
    """A shell under a keeper."""

    def __init__(self, script: str) -> None:
        self.keeper = subprocess.Popen(
            [sys.executable, "-I", keeper.__file__, "sh", "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.keeper.stdout is not None
        self.child, self.program = map(int, self.keeper.stdout.readline().split())

    def close_owner_s_pipe(self) -> None:
        assert self.keeper.stdin is not None
        self.keeper.stdin.close()

    def is_running(self) -> list[bool]:
        return [is_running(pid) for pid in (self.program, self.child)]

    def wait_until_gone(self) -> None:
        """Wait for both, which a killed process is a moment after the signal."""
        for pid in (self.program, self.child):
            seconds_until_gone(pid)


@pytest.fixture
def kept() -> Iterator[Kept]:
    family = Kept(FAMILY)
    with family.keeper:
        yield family
        keeper.end_session(family.keeper.pid, 0)


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 128 + 9)])
def test_it_ends_as_its_program_ends(script: str, status: int) -> None:
    """The exit status is the program's; after a signal, it is the shell's number for the signal."""
    command = [sys.executable, "-I", keeper.__file__, "sh", "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as process:
        assert process.wait(60) == status


def test_sigterm_ends_the_family(kept: Kept) -> None:
    kept.keeper.terminate()
    assert kept.keeper.wait(60) == 128 + signal.SIGTERM
    kept.wait_until_gone()


def test_the_program_s_end_ends_its_children(kept: Kept) -> None:
    os.kill(kept.program, signal.SIGKILL)
    assert kept.keeper.wait(60) == 128 + signal.SIGKILL
    kept.wait_until_gone()


def test_the_owner_s_end_ends_the_family(kept: Kept) -> None:
    """The owner's pipe closes, however the owner ends."""
    kept.close_owner_s_pipe()
    kept.keeper.wait(60)
    kept.wait_until_gone()


def test_a_terminal_s_signals_do_not_reach_the_family(kept: Kept) -> None:
    """Whether to stop is the owner's to decide."""
    for number in (signal.SIGINT, signal.SIGHUP):
        kept.keeper.send_signal(number)
    time.sleep(0.3)  # time in which nothing must end
    assert kept.keeper.poll() is None
    assert kept.is_running() == [True, True]


def test_a_family_that_ignores_sigterm_is_killed() -> None:
    kept = Kept(STUBBORN)
    with kept.keeper:
        kept.close_owner_s_pipe()
        kept.keeper.wait(60)
        kept.wait_until_gone()


def test_a_process_that_is_started_during_sigterm_is_asked_to_end() -> None:
    """Its parent ends without it, and nobody waits for SIGKILL."""
    script = "trap 'sleep 600 & exit' TERM; sleep 600 & echo ready; wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True) as program:
        assert program.stdout is not None
        program.stdout.readline()
        ending = threading.Thread(
            target=keeper.end_session, args=(program.pid, 600), kwargs={"reap": program.poll}, daemon=True
        )
        ending.start()
        ending.join(60)
        left = keeper.session_members(program.pid)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    assert not left


def test_a_process_that_is_started_during_a_look_is_asked_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its parent ended after the list of processes was made, and before it was asked for its session."""
    parent, child = 2**30, 2**30 + 1
    looks: Iterator[dict[int, int]] = iter([{parent: 1}, {}, {child: 1}])
    asked = []
    monkeypatch.setattr(keeper, "session_members", lambda *_: next(looks, {}))
    monkeypatch.setattr(keeper, "_send", lambda pid, number: asked.append((pid, number)))
    keeper.end_session(parent, 600)
    assert asked == [(parent, signal.SIGTERM), (child, signal.SIGTERM)]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems send no signal at the parent's death")
def test_the_keeper_s_end_ends_the_program_and_the_session_can_be_ended(kept: Kept) -> None:
    """What is left is found by its session, and only that is ended."""
    kept.keeper.kill()
    kept.keeper.wait()
    seconds_until_gone(kept.program)
    assert keeper.end_session(kept.keeper.pid, 5)
    kept.wait_until_gone()
    assert not keeper.end_session(kept.keeper.pid, 5)
