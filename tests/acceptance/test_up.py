"""`sourcebook up`: one command serves the page and keeps the knowledge base true, and leaves nothing behind."""

import json
import signal
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from benchmarks.harness.kills.processes import family
from sourcebook import KnowledgeBase
from tests.acceptance.processes import free_port
from tests.acceptance.workplace import Workplace
from tests.waiting import wait_until
from tests.web_server import WebServer

SECONDS_UNTIL_SEARCHABLE = 60


def servers_of(folder: Path) -> list[psutil.Process]:
    """Return the PostgreSQL processes that serve a data folder."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if str(folder) in (process.info["cmdline"] or []) and process.status() != psutil.STATUS_ZOMBIE
    ]


@pytest.fixture
def site() -> Iterator[WebServer]:
    """A site of one page."""
    with WebServer() as server:
        server.page("/", "<html><title>Tides</title><h1 id=high>High water</h1><p>The mark is blue.</p></html>")
        yield server


@pytest.mark.alone
@pytest.mark.usefixtures("model_was_exported")
@pytest.mark.timeout(600)
def test_up_takes_a_change_in_by_itself_and_leaves_no_process_behind(workplace: Workplace, site: WebServer) -> None:
    """A file that was edited, and a page of a site whose refresh interval has passed."""
    workplace.configure(handbook="docs")
    with workplace.configuration.open("a") as file:
        file.write(f"  web:\n    sites:\n      - {{url: {site.url}/, refresh: 15s, requests_per_second: 20}}\n")
    workplace.write("docs/a.md", "# Flags\n\nThe flag is green.\n")
    workplace.ingest()
    port = free_port()
    with workplace.start("up", "--port", str(port), "--json") as process:
        try:
            assert process.stdout is not None
            address = json.loads(process.stdout.readline())["address"]
            assert address == f"http://127.0.0.1:{port}"
            with urllib.request.urlopen(f"{address}/server_info", timeout=60) as answer:  # noqa: S310 - loopback
                assert "dagster_version" in json.load(answer)

            with KnowledgeBase.connect(home=workplace.home) as knowledge:

                def found(word: str) -> bool:
                    return bool(knowledge.search(word, mode="keyword"))

                assert found("green")
                workplace.write("docs/a.md", "# Flags\n\nThe flag is white.\n")
                site.page("/", "<html><title>Tides</title><h1 id=high>High water</h1><p>The mark is red.</p></html>")
                changed = time.monotonic()
                wait_until(lambda: found("white"), seconds=180, what="the change is searchable")
                seconds = time.monotonic() - changed
                print(f"\nsearchable {seconds:.0f} s after the change")
                assert seconds <= SECONDS_UNTIL_SEARCHABLE
                assert not found("green")
                wait_until(lambda: found("red"), seconds=180, what="the changed page is searchable")
                assert not found("blue")
            started = family(process.pid)
            assert len(started) > 3
        finally:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    _, alive = psutil.wait_procs(started, timeout=60)
    assert not alive
    assert not servers_of(workplace.home / "postgres"), "the embedded server stopped too"
    assert "Traceback" not in err


def test_a_port_that_is_taken_is_told_and_nothing_is_left_running(workplace: Workplace) -> None:
    import socket

    workplace.configure(handbook="docs")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = workplace.run("up", "--port", str(port), code=1)
    assert f"port {port} is taken" in said
    assert not servers_of(workplace.home / "postgres")
