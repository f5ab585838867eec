"""`sourcebook serve --workers`: real processes on one port, one that is killed, common limits and counters, the end."""

import logging
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.collections import apply
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.config.loading import load_configuration
from sourcebook.database.database import Database
from sourcebook.installation import installed_version
from sourcebook.metrics.process import PREFIX
from sourcebook.server.listening import ServingError, listen
from sourcebook.server.serve_settings import ServeSettings
from sourcebook.server.workers.watching import watch_workers
from tests.integration.cli.command import run, start
from tests.integration.http_server import Client
from tests.waiting import wait_until

LIMIT = 40


@pytest.fixture
def base(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A knowledge base with a collection, in which there is nothing to find yet."""
    (tmp_path / "docs").mkdir()
    file = tmp_path / "sourcebook.yaml"
    file.write_text("collections:\n  handbook:\n    files: [{root: ./docs}]\n")
    with database.connection() as connection:
        apply(connection, load_configuration(file))
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", database.url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SOURCEBOOK_LOG_FORMAT", "json")
    return database


@contextmanager
def served() -> "Iterator[tuple[subprocess.Popen[str], int]]":
    """A server of two processes, and its port; it is ended where a test has failed."""
    server = start("serve", "--port", "0", "--workers", "2")
    try:
        assert server.stderr is not None
        yield server, int(server.stderr.readline().split()[2].rpartition(":")[2])
    finally:
        server.kill()


def searches_counted(client: Client) -> int:
    """Return the searches by keywords that the metrics count."""
    told = client.get("/metrics")
    assert told.status == 200
    return sum(
        int(float(each))
        for each in re.findall(rf'{PREFIX}searches_total{{mode="keyword".*}} (\S+)', told.content.decode())
    )


def search(client: Client, times: int) -> list[int]:
    """Search on a connection of its own each time, which whichever process is free takes."""
    return [client.post("/v1/search", {"query": "gauge", "mode": "keyword"}).status for _ in range(times)]


def requests_taken(workers: list[psutil.Process]) -> list[float]:
    return [each.cpu_times().user + each.cpu_times().system for each in workers]


def test_every_answer_names_the_version_of_the_server(base: Database) -> None:
    """Also a refusal; the description of the API, `--version` and the client say the same."""
    own = installed_version()
    assert run("--version").out == f"sourcebook {own}\n"
    with served() as (_, port):
        answers = [Client(port).get(path) for path in ("/openapi.json", "/health", "/v1/nothing")]
        assert [(each.status, each.headers["sourcebook-version"]) for each in answers] == [
            (200, own),
            (200, own),
            (404, own),
        ]
        assert answers[0].json["info"]["version"] == own
        with RemoteKnowledgeBase(f"http://127.0.0.1:{port}") as remote:
            assert remote.server_version is None
            assert [each.name for each in remote.collections()] == ["handbook"]
            assert remote.server_version == own


def test_two_processes_answer_as_one_server_also_while_one_is_killed(base: Database) -> None:
    """Limits and counters are those of both together; who dies is replaced; SIGTERM ends everything."""
    with base.connection() as connection:
        _, limited = create_key(connection, "limited", limit=LIMIT, actor="test")
    with served() as (server, port):
        anyone, key = Client(port), Client(port, limited)
        watching = psutil.Process(server.pid)
        workers = watching.children()
        assert len(workers) == 2
        before = requests_taken(workers)
        assert search(anyone, 30) == [200] * 30
        assert all(now > then for now, then in zip(requests_taken(workers), before, strict=True))
        assert [searches_counted(anyone) for _ in range(4)] == [30] * 4
        workers[1].suspend()
        passed = search(key, LIMIT // 2)
        workers[1].resume()
        assert searches_counted(anyone) == 30 + LIMIT // 2
        workers[0].kill()
        wait_until(lambda: len(watching.children()) == 2 and workers[0] not in watching.children(), what="a new one")
        line = server.stderr.readline() if server.stderr else ""
        assert f'"worker 1 (process {workers[0].pid}) was ended by SIGKILL' in line
        workers[1].suspend()  # the new one, which has seen no request of the key, takes the others
        passed += search(key, LIMIT)
        workers[1].resume()
        assert LIMIT <= passed.count(200) < LIMIT + 20  # some have flowed in: as many a minute as the limit
        assert set(passed) == {200, 429}
        assert searches_counted(anyone) == 30 + passed.count(200)
        taken = run("serve", "--port", str(port), "--workers", "2")
        assert taken.code == 1
        assert f"port {port}" in taken.err
        left = watching.children()
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=60)
    assert (server.returncode, err) == (0, "")
    assert not any(each.is_running() for each in left)


WORKER = """
import os, signal, sys
from multiprocessing.connection import Connection
from sourcebook.server.workers.messages import Asked, Count, Counted, Ready, Sums
link = Connection(int(sys.argv[1]))
setup = link.recv()
part = ("searches", ("keyword", "ok"), "total")
"""


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with listen("127.0.0.1", 0) as made:
        yield made


def test_a_process_that_cannot_begin_is_an_error_and_later_tried_again(
    database: Database, listening: socket.socket, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """One that fails at the start ends the server, with what it says; later the others go on, and the log says it."""
    mark = tmp_path / "began"

    def watched(program: str) -> None:
        watch_workers(database, listening, ServeSettings(), 2, [sys.executable, "-c", program], lambda: mark.touch())

    with pytest.raises(ServingError, match=r"worker [12] of 2 could not begin: process \d+ ended with exit status 3"):
        watched("raise SystemExit(3)")
    assert not mark.exists()
    # Worker 1 begins once and dies; then it cannot begin again, and worker 2, which asks for the sums, has them ended.
    began_once = (
        WORKER
        + f"""
from pathlib import Path
mark = Path({str(mark)!r})
if setup.number == 1:
    if mark.exists():
        raise SystemExit(4)
    link.send(Ready())
    link.send(Counted({{part: 5.0}}))
    while not mark.exists():
        link.poll(0.01)
    os.kill(os.getpid(), signal.SIGKILL)
link.send(Ready())
while not Path(str(mark) + "-failed").exists():
    link.poll(0.01)
link.send(Asked(7, {{part: 2.0}}))
while not isinstance(answer := link.recv(), Sums):
    pass
Path(str(mark) + "-answer").write_text(repr(answer.totals[part]))
os.kill(os.getppid(), signal.SIGTERM)
"""
    )

    class Failed(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "next attempt in 1 s: process" in record.getMessage():
                Path(f"{mark}-failed").touch()

    watch_log = logging.getLogger("sourcebook.server.workers.watching")
    handler = Failed()
    watch_log.addHandler(handler)
    try:
        watched(began_once)
    finally:
        watch_log.removeHandler(handler)
    assert "was ended by SIGKILL" in caplog.text
    assert Path(f"{mark}-answer").read_text() == "7.0"
