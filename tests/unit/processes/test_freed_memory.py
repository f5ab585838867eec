"""Memory that is freed goes back to the system."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

MEASURED = """
import sys
from sourcebook.processes.machine_memory import return_freed_memory, return_large_pieces_at_once
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
if sys.argv[1] == "at once":
    return_large_pieces_at_once()
large = bytearray(30_000_000)
del large
before = resident()
pieces = [bytearray(b"x") * 1_000_000 for _ in range(20)]
del pieces
if sys.argv[1] == "when asked":
    return_freed_memory()
print(resident() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not list the memory of a process")
@pytest.mark.parametrize("when", ["at once", "when asked"])
def test_large_pieces_go_back_after_larger_ones(when: str) -> None:
    """By itself, glibc keeps what is smaller than a piece that was freed before."""
    done = subprocess.run([sys.executable, "-c", MEASURED, when], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 5_000_000


KEPT = """
from resource import RUSAGE_SELF, getrusage
from threading import Thread
from sourcebook.processes.machine_memory import keep_freed_memory
keep_freed_memory()
def work():
    for _ in range(100):
        piece = bytearray(b"x") * 3_000_000
        del piece
before = getrusage(RUSAGE_SELF).ru_minflt
thread = Thread(target=work)
thread.start()
thread.join()
print(getrusage(RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library has no such settings")
def test_freed_memory_is_kept_for_the_next_pieces() -> None:
    """Pages of 100 pieces of 3 MB, one after the other in a thread, are cleared once."""
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 10_000
