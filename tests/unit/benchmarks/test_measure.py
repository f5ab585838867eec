import os
import sys

import pytest

from benchmarks.harness.measure import ChildFailedError, run

_HOLD = "import time; held = bytearray({bytes}); time.sleep(0.8); print('done')"
_PARENT = (
    "import subprocess, sys, time; held = bytearray(40_000_000); "
    "subprocess.run([sys.executable, '-c', 'import time; held = bytearray(40_000_000); time.sleep(1)'], check=True)"
)


def test_a_run_is_measured_whole() -> None:
    """Time, output and the memory of the program itself; not that of the benchmark that starts it."""
    ballast = bytearray(150_000_000)
    measured = run([sys.executable, "-c", _HOLD.format(bytes=50_000_000)], dict(os.environ))
    assert len(ballast) > measured.peak_process
    assert 0.8 < measured.seconds < 10
    assert 50_000_000 < measured.peak_process < 120_000_000
    assert measured.output == "done\n"


def test_children_count_into_the_memory_of_the_tree() -> None:
    """The sum is over all processes, the single peak of the largest."""
    measured = run([sys.executable, "-c", _PARENT], dict(os.environ))
    assert measured.peak_tree > 80_000_000
    assert measured.peak_process < 80_000_000
    assert any("bytearray" in command for command in measured.commands)


def test_a_program_that_fails_says_why() -> None:
    """Its last words are in the error."""
    with pytest.raises(ChildFailedError, match="no such tide"):
        run([sys.executable, "-c", "raise SystemExit('no such tide')"], dict(os.environ))
