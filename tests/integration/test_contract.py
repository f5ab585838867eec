"""The server keeps the contract that its description states: by its own examples, by schemathesis, and by hand."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.rate_limits import RateLimits
from tests.integration.http_server import Answer, Client, serving
from tests.integration.openapi_requests import hostile_addresses, hostile_bodies, operations
from tests.integration.stages import Stages

CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook, tags: [policy]}]}
  personnel: {files: [{root: ./docs/personnel}]}
"""
EXAMPLES = 12
"""Random cases of an operation for each key; its examples and boundary values come first."""
HOOKS = """\
import re
import schemathesis
from uuid import uuid4

@schemathesis.hook
def before_call(context, case, kwargs):
    "Give each request a key of its own: two requests with one key are refused, which no schema can say."
    for name, value in list((case.headers or {}).items()):
        if name.lower() == "idempotency-key" and re.fullmatch("[!-~]{1,200}", str(value)):
            case.headers[name] = uuid4().hex
"""
CONFIG_OF_SCHEMATHESIS = """\
hooks = "hooks.py"
max-stream-events = 1
request-timeout = 30
[checks.positive_data_acceptance]
# 400: a value that no schema can tell, such as a filter, a cursor, or the name of a model. 404: of another key.
expected-statuses = ["2xx", "3xx", 400, 401, 403, 404, 409, 412, 429]
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 406, 409, 412, 413, 415, 422, 428, 429]
[auth.openapi.key]
bearer = "{key}"
"""


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Two collections, as the examples of the description name them."""
    stages.write("handbook/power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.write("handbook/seal.md", "# Seals\n\nThe seal of the housing is greased in spring.")
    stages.write("personnel/salaries.md", "# Salaries\n\nThe batteries engineer earns a bonus in winter.")
    stages.configure(CONFIGURATION)
    for name in ("handbook", "personnel"):
        stages.collection = name
        stages.run()
    return stages


@pytest.fixture
def knowledge(base: Stages) -> KnowledgeBase:
    return base.knowledge


def key(stages: Stages, scope: str, only: list[str] | None = None) -> str:
    with stages.connection() as connection:
        return create_key(connection, f"key for {scope}", (scope,), only, actor="test")[1]  # type: ignore[arg-type]


def test_the_examples_of_the_description_are_answered(base: Stages, knowledge: KnowledgeBase) -> None:
    with serving(knowledge, requires_key=False) as client:
        for operation in operations(description_of(client)):
            if operation.described["operationId"] not in WITH_EXAMPLES:
                continue
            if operation.takes_json:
                assert operation.bodies(), f"{operation.method} {operation.path} has no example"
                answers = [client.post(operation.path, body) for body in operation.bodies()]
            else:
                answers = [client.get(address) for address in operation.example_addresses()]
            for answer in answers:
                assert answer.status == 200, (operation.path, answer.content)
            assert answers, operation.path


def test_what_no_client_should_send_is_refused_or_answered(base: Stages, knowledge: KnowledgeBase) -> None:
    statuses: set[int] = set()
    with serving(knowledge, requires_key=False) as client:
        for operation in operations(description_of(client)):
            for address in hostile_addresses(operation):
                answer = client.request(operation.method, address, b"{}" if operation.takes_json else None, JSON_TYPE)
                assert_answered(answer, operation.path, f"{operation.method} {address[:200]}")
                statuses.add(answer.status)
            if not operation.takes_json:
                continue
            for body, media_type in hostile_bodies(operation):
                answer = client.request(operation.method, operation.address(), body, {"Content-Type": media_type})
                assert_answered(answer, operation.path, f"{operation.method} {body[:200]!r} {media_type}")
                statuses.add(answer.status)
        assert client.get("/ready").status == 200
    assert {200, 400, 404, 413, 422} <= statuses


def test_bodies_that_end_early_and_clients_that_leave_harm_nothing(base: Stages, knowledge: KnowledgeBase) -> None:
    with serving(knowledge, requires_key=False) as client:
        for sent in (
            b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
            b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
            b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            b"GET /v1/collections",
            b"\x16\x03\x01\x02\x00\x01\x00",
        ):
            with socket.create_connection(("127.0.0.1", client.port), timeout=10) as connection:
                connection.sendall(sent)
        assert client.post("/v1/search", {"query": "batteries"}).status == 200


@pytest.mark.parametrize(("scope", "only"), [("read", ["handbook"]), ("write", None), ("admin", None)])
def test_schemathesis_finds_nothing(
    base: Stages, knowledge: KnowledgeBase, tmp_path: Path, scope: str, only: list[str] | None
) -> None:
    """Examples, boundary values, random and stateful requests, with every check that it has."""
    configuration = tmp_path / "schemathesis.toml"
    (tmp_path / "hooks.py").write_text(HOOKS)
    key(base, "read")  # number 1, which the example revokes
    configuration.write_text(CONFIG_OF_SCHEMATHESIS.format(key=key(base, scope, only)))
    with serving(knowledge, requires_key=True, limits=RateLimits(wrong_keys=None)) as client:
        command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration), "--no-color", "run"]
        command += [f"http://127.0.0.1:{client.port}/openapi.json", "--checks", "all", "--warnings", "off"]
        command += ["--max-examples", str(EXAMPLES), "--continue-on-failure", "--seed", "1"]
        command += ["--generation-database", "none"]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env={**os.environ, "COLUMNS": "200"}
        )
        assert client.get("/ready").status == 200
    said = "\n".join(line[:500] for line in (done.stdout + done.stderr).splitlines())
    assert done.returncode == 0, said[-12_000:]
    generated = re.search(r"([\d,]+) generated", said)
    assert generated is not None
    assert int(generated[1].replace(",", "")) > 200


WITH_EXAMPLES = {
    "generations",
    "get_chunks",
    "get_collection",
    "get_document",
    "health",
    "list_collections",
    "list_documents",
    "lookup_document",
    "metrics",
    "ready",
    "search",
    "similar",
    "status",
}
"""Operations whose examples are sent, by their ids."""
OF_OTHERS = ("/retrieval", "/v1/embeddings")
"""Paths whose errors have the form that somebody else has laid down."""
JSON_TYPE = {"Content-Type": "application/json"}


def description_of(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/openapi.json").json
    return found


def assert_answered(answer: Answer, path: str, what: str) -> None:
    """Fail where the server failed, or a refusal is no problem details."""
    assert answer.status < 500, (path, what, answer.content)
    if answer.status >= 400 and path not in OF_OTHERS:
        assert answer.headers["content-type"] == "application/problem+json", (path, what)
        assert answer.json["status"] == answer.status
