"""Requests that schemathesis makes up, with keys of three scopes: server errors, answers that break the contract."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, cycle
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benchmarks.harness.bench import Bench
from benchmarks.harness.made_up_requests import run_schemathesis, violations_in
from benchmarks.harness.report import Row, say
from sourcebook.admin.access_keys import create_key, find_key
from sourcebook.contract.access import AccessKey
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Scope as KeyScope
from sourcebook.server.app import create_app
from sourcebook.server.rate_limits import RateLimits

FILES: Final = 30
EXAMPLES: Final = 100
"""Random cases of an operation in a run."""
SECONDS: Final = 60
"""Budget of a run."""
SERVER_ERROR: Final = 500
SCOPES: Final[tuple[KeyScope, ...]] = ("read", "write", "admin")


def run(bench: Bench) -> list[Row]:
    """Let schemathesis run with other seeds and keys until each scope was tried, and requests are enough."""
    library = bench.filled("fuzz", files=FILES)
    library.ingest()
    folder = library.home / "schemathesis"
    folder.mkdir()
    answers: Counter[int] = Counter()
    violations: list[str] = []
    with library.knowledge() as knowledge, _serving(knowledge, answers) as port:
        for number, scope in zip(count(), cycle(SCOPES), strict=False):
            if number >= len(SCOPES) and answers.total() >= bench.options.cases:
                break
            with knowledge.database.connection() as connection:
                key = create_key(connection, f"{scope} {number}", (scope,), None, actor="benchmark")
            violations += _fuzz(port, key, bench.options.seed + number, folder)
            with knowledge.database.connection() as connection:
                violations += [] if find_key(connection, key[1]) else [f"the key for {scope} was revoked"]
            say(f"  {answers.total():,} requests, the last ones with a key for {scope}")
    statuses = ", ".join(f"{status}: {number:,}" for status, number in sorted(answers.items()))
    errors = sum(number for status, number in answers.items() if status >= SERVER_ERROR)
    for each in violations:
        say(f"  {each}")
    return [
        Row("cases of schemathesis", answers.total(), "", bench.options.cases, statuses, at_least=True),
        Row("server errors among them", errors, "", 0),
        Row("answers that break the contract", len(violations), "", 0),
    ]


def _fuzz(port: int, key: tuple[AccessKey, str], seed: int, folder: Path) -> list[str]:
    """Run schemathesis once; return what it found."""
    status, output = run_schemathesis(port, key, folder, examples=EXAMPLES, seed=seed, seconds=SECONDS)
    found = [f"{each} (seed {seed})" for each in violations_in(output)]
    if status not in {0, 1} or (status == 1 and not found):
        return [f"schemathesis ended with {status}: {output[-500:]}"]
    return found


@contextmanager
def _serving(knowledge: KnowledgeBase, answers: "Counter[int]") -> Iterator[int]:
    """Serve a knowledge base on a free port to callers with keys, and count the answers by their status."""
    app = _Counting(create_app(knowledge, requires_key=True, limits=RateLimits(wrong_keys=None)), answers)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", access_log=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


class _Counting:
    """Counts the answers of an app."""

    def __init__(self, app: ASGIApp, answers: "Counter[int]") -> None:
        self._app, self._answers = app, answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._answers[message["status"]] += 1
            await send(message)

        await self._app(scope, receive, counted)
