"""The interpreter's last look for garbage, which takes a tenth of a short command."""

import subprocess
import sys

import pytest

PROGRAM = """
import atexit, gc
atexit.register(lambda: print(gc.get_freeze_count()))  # the last of all
from sourcebook.processes.garbage import skip_last_look
skip_last_look()
"""


def run(more: str = "") -> tuple[int, str]:
    """Return the number of objects that are left out of the last look, and what stands on standard error."""
    done = subprocess.run([sys.executable, "-c", PROGRAM + more], check=True, capture_output=True, text=True)
    return int(done.stdout), done.stderr


def test_what_goes_with_the_process_is_not_looked_at() -> None:
    """All objects of the interpreter, thousands, are left out."""
    frozen, errors = run()
    assert frozen > 1_000
    assert errors == ""


def test_objects_that_complain_are_collected() -> None:
    """Without the look, triton prints some forty lines of leaks at the end of a search with a reranker."""
    pytest.importorskip("triton", reason="torch of this machine comes without triton")
    assert run("import triton\n") == (0, "")
