"""The page that asks: from sending a question to the first text of its answer, of a model that answers at once.

`--files 10000` is the size of the bar. The model is made up: over OpenAI's protocol of streams it quotes the first
sentence of its first source. What is measured is what surrounds it: request, search, prompt, check of citations.
"""

import json
import re
import time
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from random import Random
from typing import Final
from urllib.parse import urlencode

import psutil

from benchmarks.harness.bench import Bench
from benchmarks.harness.latency import Latency
from benchmarks.harness.library import Library
from benchmarks.harness.report import Row, say
from benchmarks.parts.server import serving
from tests.chat_server import AskedChat, Chat, ChatServer

_QUESTIONS: Final = 50
_WARM_UP: Final = 10
"""Questions that are asked before the measured ones."""
_BAR: Final = 300.0
"""Milliseconds."""
_SENTENCE: Final = re.compile(r"^[A-Z][^\n#]{40,200}?\.(?= |$)", re.MULTILINE)


def run(bench: Bench) -> list[Row]:
    """Ask a server in a process of its own, one question after the other."""
    library = bench.ingested
    questions = _questions(library, _QUESTIONS + _WARM_UP)
    settings = library.configuration_path.read_text(encoding="utf-8")
    first, whole, refused = [], [], 0
    with ChatServer() as chat:
        chat.answer = _quoting_at_once
        answering = f"    answering: {{base_url: '{chat.url}', model: made-up}}\n"
        library.configuration_path.write_text(settings + answering, encoding="utf-8")
        try:
            library.ingest()
            with serving(library) as (port, _, process):
                page = _Page(port)
                for question in questions[:_WARM_UP]:
                    page.ask(question)
                before = _processor(process)
                for question in questions[_WARM_UP:]:
                    times = page.ask(question)
                    refused += times is None
                    first += [] if times is None else [times[0]]
                    whole += [] if times is None else [times[1]]
                spent = (_processor(process) - before) / _QUESTIONS * 1000
        finally:
            library.configuration_path.write_text(settings, encoding="utf-8")
    if not first:
        return [Row("first text of an answer", None, note="every question was refused")]
    latency, ended = Latency(first), Latency(whole)
    say(f"  first text: {latency}; the whole answer: {ended}; {refused} refused; {spent:.0f} ms of processors each")
    note = f"p50 {latency.p50:.0f} ms; {len(library.paths()):,} documents, {len(first)} questions, {refused} refused"
    return [
        Row("first text of an answer after the question, p95", latency.p95, "ms", _BAR, note),
        Row("the whole answer, p95", ended.p95, "ms", None, f"p50 {ended.p50:.0f} ms"),
        Row("processor time of the server, a question", spent, "ms", None, "its processes, without PostgreSQL"),
    ]


class _Page:
    """The page as its script asks: one connection, the cookie of the form and its token."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self._connection.request("GET", "/ask", headers={"Accept": "text/html"})
        answer = self._connection.getresponse()
        answer.read()
        self._token = SimpleCookie(answer.getheader("set-cookie", ""))["sourcebook_form"].value

    def ask(self, question: str) -> tuple[float, float] | None:
        """Return the milliseconds until the first text and until the end; None where there is no answer."""
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "text/event-stream",
            "HX-Request": "true",
            "Cookie": f"sourcebook_form={self._token}",
        }
        body = urlencode({"token": self._token, "q": question})
        started, first = time.perf_counter(), 0.0
        self._connection.request("POST", "/ask/events", body, headers)
        answer = self._connection.getresponse()
        assert answer.status == 200, answer.read()
        name = ""
        for line in answer:
            kind, _, value = line.decode().rstrip().partition(": ")
            name = value if kind == "event" else name
            assert name != "problem" or kind == "event", json.loads(value)
            if name == "text" and not first:
                first = (time.perf_counter() - started) * 1000
        return (first, (time.perf_counter() - started) * 1000) if first else None


def _quoting_at_once(asked: AskedChat) -> Chat:
    found = next((match[0] for match in map(_SENTENCE.search, asked.sources.values()) if match), None)
    number = next((number for number, text in asked.sources.items() if found and found in text), 0)
    return Chat(f"{found[:-1]} [{number}]." if found else "NO_ANSWER")


def _questions(library: Library, number: int) -> list[str]:
    """Return sentences of documents, which are found in them."""
    paths = Random(number).sample(library.paths(), min(number, len(library.paths())))
    found = [_SENTENCE.search(path.read_text(encoding="utf-8")) for path in paths]
    questions = [match[0] for match in found if match]
    return [questions[place % len(questions)] for place in range(number)]


def _processor(process: psutil.Process) -> float:
    """Return the processor seconds of a process and of those that it has begun."""
    times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    return sum(each.user + each.system for each in times)
