"""The workers of shards: each ends as a command of its own, and none outlives whoever started them."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from orchestration.shard_workers import ShardWorkers, _sentence
from tests.waiting import wait_until

_KILLED = """
import os, signal, sys
from orchestration.shard_workers import ShardWorkers
waiting = ["--config", sys.argv[1] + "/sourcebook.yaml", "ingest", "--shard", "notes:1of2"]
workers = ShardWorkers([waiting, waiting], uses_provider=False)
print(workers._servers[0].pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_are_forks_that_end_alone_and_together(tmp_path: Path) -> None:
    """Output and errors are a worker's; one that is killed ends no other; those that are left end with the block."""
    waiting = ["--config", str(tmp_path / "sourcebook.yaml"), "ingest", "--shard", "notes:1of2"]
    os.mkfifo(tmp_path / "sourcebook.yaml")  # whoever reads it waits for a writer
    told = ["status", "--json", "--config"]
    before = psutil.Process().children()
    with ShardWorkers([["--version"], told, waiting, waiting], uses_provider=False) as workers:
        assert workers.outcome(0).output.startswith(b"sourcebook")
        assert workers.outcome(0).problem is None
        assert "--config" in (workers.outcome(1).problem or "")
        (server,) = (child for child in psutil.Process().children() if child not in before)
        wait_until(lambda: len(server.children()) == 2, what="two workers are left")
        killed, left = server.children()
        os.kill(killed.pid, signal.SIGKILL)
        assert workers.outcome(2).problem == "its process was killed"
        assert not workers.has_ended(3)
        assert left.is_running()
    assert not left.is_running()
    assert not server.is_running()


def test_a_killed_command_leaves_no_worker(tmp_path: Path) -> None:
    """Its workers are told by the system, as nobody else can."""
    os.mkfifo(tmp_path / "sourcebook.yaml")
    started = subprocess.run(
        [sys.executable, "-c", _KILLED, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert started.returncode == -signal.SIGKILL
    server = int(started.stdout)
    wait_until(lambda: not _is_running(server), what="the workers of the killed command have ended")


def test_a_failure_is_told_in_the_sentence_of_the_command() -> None:
    """Warnings of libraries before it are left out; where there is no sentence, everything is told."""
    assert _sentence("WARNING:root:Retrying\nsourcebook: the disk is full\n") == "the disk is full"
    assert _sentence("sourcebook: b\nsourcebook: c\n") == "c"
    assert _sentence("Killed\n") == "Killed"


def _is_running(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False
