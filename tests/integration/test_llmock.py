"""A collection whose vectors the server of the package llmock makes: it fails on demand, and judges its client."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import pytest

from sourcebook.errors import ModelError
from tests.integration.provided_collection import DOCUMENTS, build, configure, search
from tests.integration.stages import Stages
from tests.waiting import wait_until

pytest.importorskip("llmock")
WINDOW = 30
"""Tokens of a request, at most, each of four letters by the server's count: more than those of one document."""


@dataclass
class Llmock:
    """The server, driven over HTTP as its documentation says."""

    address: str

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def script(self, *behaviors: dict[str, Any]) -> None:
        """Forget what was asked and planned, and have the next requests meet these behaviours."""
        self._ask("reset", {})
        if behaviors:
            self._ask("scenario", {"behaviors": behaviors})

    def requests(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._ask("requests")["requests"]
        return found

    def findings(self) -> list[str]:
        """Return what the client did wrong, warnings included."""
        return [finding["code"] for finding in self._ask("verdict")["findings"]]

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(f"{self.address}/_llmock/{path}", data), timeout=30) as answer:  # noqa: S310 - on loopback
            decoded: dict[str, Any] = json.load(answer)
        return decoded


@pytest.fixture(scope="module")
def llmock() -> Iterator[Llmock]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {"--port": port, "--log-level": "critical", "--context-window": WINDOW}
    command = [sys.executable, "-m", "llmock.cli", "serve", *(str(part) for pair in options.items() for part in pair)]
    serving = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def answers() -> bool:
        assert serving.poll() is None
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", port)) == 0

    wait_until(answers)
    yield Llmock(f"http://127.0.0.1:{port}")
    serving.kill()
    serving.wait()


def failed(status: int, **more: Any) -> dict[str, Any]:
    return {"type": "fail", "status": status, **more}


@pytest.fixture
def provided(stages: Stages, llmock: Llmock) -> Stages:
    """A collection with one document, whose vectors are there."""
    llmock.script()
    stages.write("tides.md", DOCUMENTS["tides.md"])
    configure(stages, llmock.url, model="text-embedding-3-small")
    build(stages)
    for name, text in DOCUMENTS.items():
        stages.write(name, text)
    return stages


def assert_own_vectors(stages: Stages) -> None:
    """Each text has one vector, which is its own."""
    from llmock.simulation import build_mock_embedding

    rows = stages.rows(
        "SELECT chunk.context || chunk.text AS text, embedding.vector::text AS vector FROM chunk "
        "JOIN embedding ON embedding.text_hash = chunk.embedding_hash"
    )
    assert len(rows) == len(DOCUMENTS)
    for row in rows:
        made = np.array(build_mock_embedding(row["text"]), np.float32)
        found = np.array(row["vector"].strip("[]").split(","), np.float32)
        np.testing.assert_allclose(found, made / np.linalg.norm(made), atol=1e-3)


def test_limits_and_outages_cost_time_and_no_text(provided: Stages, llmock: Llmock) -> None:
    """Retry-After is waited for, and pauses grow where nobody says how long."""
    llmock.script(failed(429, retry_after=0.4, times=2), failed(503), failed(500))
    assert build(provided).extra["computed"] == 2
    assert [request["status"] for request in llmock.requests()].count(200) >= 1
    assert {429, 500, 503} <= {request["status"] for request in llmock.requests()}
    assert llmock.findings() == []
    assert_own_vectors(provided)


def test_a_request_that_is_too_long_is_split(provided: Stages, llmock: Llmock) -> None:
    """The server has room for one document a request, and says so as OpenAI does."""
    llmock.script()
    assert build(provided).extra["computed"] == 2
    assert [request["status"] for request in llmock.requests()] == [200, 400, 200, 200]
    assert llmock.findings() == []
    assert_own_vectors(provided)


def test_what_no_retry_can_cure_is_asked_once(provided: Stages, llmock: Llmock) -> None:
    """A key that is refused, and a model that is gone, end the run with one sentence."""
    for status, said in ((401, "refuses the key with status 401"), (404, "knows no such address or model")):
        llmock.script(failed(status, times=None))
        with pytest.raises(ModelError, match=said):
            build(provided)
        assert [request["status"] for request in llmock.requests()] == [status]
        assert llmock.findings() == []
    llmock.script()
    assert build(provided).extra["computed"] == 2
    assert search(provided, DOCUMENTS["bread.md"])
