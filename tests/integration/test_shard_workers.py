"""The workers of shards: each ends as a command of its own, and none outlives whoever started them."""

import os
import signal
from pathlib import Path

import psutil

from orchestration.shard_workers import ShardWorkers
from tests.waiting import wait_until


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
