"""`dagster dev` in the checkout: sensors share one embedded server, a change is ingested, nothing is left behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from benchmarks.harness.kills.processes import family
from sourcebook import KnowledgeBase
from sourcebook.database.postmaster import running_postmaster
from tests.acceptance.processes import free_port
from tests.acceptance.workplace import Workplace
from tests.checkout import CHECKOUT
from tests.waiting import wait_until


@contextmanager
def _until_ctrl_c(command: list[str], environment: dict[str, str], log: Path) -> Iterator[int]:
    """Run `dagster dev`, which ends its children on Ctrl-C alone; assert that they have ended."""
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, cwd=CHECKOUT, env=environment, stdout=output, stderr=output, start_new_session=True
        ) as process,
    ):
        started: list[psutil.Process] = []
        try:
            yield process.pid
            started = family(process.pid)
            process.send_signal(signal.SIGINT)
            process.wait(120)
            _, alive = psutil.wait_procs(started, timeout=120)
        finally:
            for one in [*started, *family(process.pid)]:
                with suppress(psutil.NoSuchProcess):
                    one.kill()
        assert not alive


@pytest.mark.usefixtures("model_was_exported")
@pytest.mark.timeout(900)
def test_dagster_dev_keeps_one_server(workplace: Workplace) -> None:
    """No embedded server runs before: the first sensor has one started outside the forking gRPC server."""
    workplace.configure(handbook="docs")
    workplace.write("docs/a.md", "# Flags\n\nThe flag is green.\n")
    workplace.run("apply")
    data = workplace.home / "postgres"
    assert running_postmaster(data) is None
    environment = {
        **workplace.environment,
        "SOURCEBOOK_CONFIG": str(workplace.configuration),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    log = workplace.folder / "dev.log"
    command = [str(Path(sys.executable).with_name("dagster")), "dev", "-p", str(free_port())]
    with _until_ctrl_c(command, environment, log) as pid:

        def server() -> int | None:
            running = running_postmaster(data)
            return running.pid if running is not None and running.is_ready else None

        first = wait_until(server, seconds=300, what="a sensor starts the server")

        def found() -> bool:
            with KnowledgeBase.connect(home=workplace.home) as knowledge:
                return bool(knowledge.search("green", mode="keyword"))

        wait_until(found, seconds=300, every=2, what="the file is searchable")
        assert server() == first, "the same server all the time"
        assert len(family(pid)) > 3
    assert "SIGSEGV" not in log.read_text()
    wait_until(lambda: running_postmaster(data) is None, seconds=60, what="the server has stopped")
