"""`sourcebook serve` beside the library: what HTTP adds to a search, clients at once, its start, its memory at rest."""

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import psutil

from benchmarks.harness.bench import Bench
from benchmarks.harness.latency import CLIENTS, Latency, ask_at_once
from benchmarks.harness.library import Library
from benchmarks.harness.report import MEGABYTE, Row, middle, say, spread
from benchmarks.parts.search import questions_of, searched_library

_STARTS = 5


def run(bench: Bench) -> list[Row]:
    """Ask a server in a process of its own and the library in this one in turns, then the server alone."""
    library, collection = searched_library(bench)
    questions = questions_of(bench)
    rows = []
    with library.knowledge() as knowledge:
        with serving(library) as (port, _, _):
            ask = Asking(port, collection)
            for question in questions[:10]:
                ask(question)
                knowledge.search(question, collection)
            knowledge.forget_queries()
            direct: list[float] = []
            served: list[float] = []
            for question in questions[10:]:
                for took, search in ((direct, lambda text: knowledge.search(text, collection)), (served, ask)):
                    started = time.perf_counter()
                    search(question)
                    took.append((time.perf_counter() - started) * 1000)
        with serving(library) as (port, _, _):
            ask = Asking(port, collection)
            ask(questions[0])
            rate = ask_at_once(ask, questions)
        starts, memory = [], 0
        for _ in range(_STARTS):
            with serving(library) as (_, seconds, process):
                starts.append(seconds)
                memory = max(memory, process.memory_info().rss)
    alone, over_http = Latency(direct), Latency(served)
    say(f"  the library: {alone}; over HTTP: {over_http}")
    note = f"p50 {over_http.p50 - alone.p50:+.1f} ms; {over_http.p95:.1f} against {alone.p95:.1f} ms"
    rows.append(Row("what HTTP adds to a search, p95", over_http.p95 - alone.p95, "ms", 5.0, note))
    rows.append(Row(f"searches over HTTP, {CLIENTS} clients", rate, "searches/s", 60.0, at_least=True))
    rows.append(Row("start of the server until it answers", middle(starts), "s", 2.0, spread(starts, "s")))
    rows.append(Row("memory of the server at rest", memory / MEGABYTE, "MB", 250.0))
    return rows


class Asking:
    """Searches over connections that stay open, one a thread."""

    def __init__(self, port: int, collection: str) -> None:
        self._port, self._collection = port, collection
        self._held = threading.local()

    def __call__(self, question: str) -> None:
        """Ask one question, and read the whole answer."""
        if not hasattr(self._held, "connection"):
            self._held.connection = HTTPConnection("127.0.0.1", self._port)
        body = json.dumps({"query": question, "collections": self._collection})
        self._held.connection.request("POST", "/v1/search", body, {"Content-Type": "application/json"})
        answer = self._held.connection.getresponse()
        found = answer.read()  # reading its JSON would take from the server's cores
        assert answer.status == 200, found


@contextmanager
def serving(library: Library, *options: str) -> Iterator[tuple[int, float, psutil.Process]]:
    """Serve a library, with more options; yield the port, the seconds until the first answer, and the process."""
    started = time.perf_counter()
    program = str(Path(sys.executable).with_name("sourcebook"))
    command = [program, "--config", str(library.configuration_path), "serve", "--port", "0", *options]
    with subprocess.Popen(command, env=library.environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            told = process.stderr.readline()
            found = re.search(r"http://127\.0\.0\.1:(\d+)", told)
            assert found, told
            connection = HTTPConnection("127.0.0.1", int(found[1]))
            connection.request("GET", "/ready")
            assert connection.getresponse().status == 200
            seconds = time.perf_counter() - started
            connection.close()
            yield int(found[1]), seconds, psutil.Process(process.pid)
        finally:
            process.terminate()
