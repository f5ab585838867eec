"""The server keeps the contract that its description states: by its own examples, by schemathesis, and by hand."""

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from benchmarks.harness.made_up_requests import PHASES, run_schemathesis
from sourcebook.admin.access_keys import create_key
from sourcebook.contract.access import AccessKey
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Scope
from sourcebook.server.rate_limits import RateLimits
from tests.chat_server import ChatServer
from tests.checkout import EXAMPLES as EXAMPLE_FILES
from tests.integration.http_server import Answer, Client, serving
from tests.integration.openapi_requests import Operation, example_of, hostile_addresses, hostile_bodies, operations
from tests.integration.stages import Stages

CONFIGURATION = """\
collections:
  handbook:
    files: [{root: ./docs/handbook, tags: [policy]}]
    answering: {base_url: "URL", model: reader, timeout: 5s}
  personnel: {files: [{root: ./docs/personnel}]}
"""
EXAMPLES = 12
"""Random cases of an operation for the key that may do everything; its examples and boundary values come first."""
EXAMPLES_OF_OTHERS = 4
"""Random cases of an operation for each other key."""
PHASES_OF_OTHERS = tuple(phase for phase in PHASES if phase != "coverage")
"""Boundary values, two thirds of all requests, meet the same checks whatever the key: its scope is asked first."""


@pytest.fixture
def base(stages: Stages, chat: ChatServer) -> Stages:
    """Two collections, as the examples of the description name them."""
    stages.write("handbook/power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.write("handbook/seal.md", "# Seals\n\nThe seal of the housing is greased in spring.")
    stages.write("personnel/salaries.md", "# Salaries\n\nThe batteries engineer earns a bonus in winter.")
    stages.configure(CONFIGURATION.replace("URL", chat.url))
    stages.run_all("handbook", "personnel")
    return stages


def key(stages: Stages, name: str, scope: Scope = "read", only: list[str] | None = None) -> tuple[AccessKey, str]:
    with stages.connection() as connection:
        return create_key(connection, name, (scope,), only, actor="test")


def test_the_examples_of_the_description_are_answered(base: Stages, knowledge: KnowledgeBase) -> None:
    """Every operation has examples, and in this order each of them does what it asks for."""
    base.write("handbook/report.pdf", (EXAMPLE_FILES / "library" / "reports" / "annual-review-2024.pdf").read_bytes())
    for number, days in ((1, 30), (2, 60)):
        base.write(f"handbook/lease_v{number}.md", f"# Lease\n\nEither side may end it with {days} days' notice.")
    base.collection = "handbook"
    base.run()
    report = str(knowledge.show("report.pdf").item.document_id)
    with serving(knowledge, requires_key=False) as client:
        described = {each.described["operationId"]: each for each in operations(description_of(client))}
        assert sorted(ORDER) == sorted(described)
        for name in ORDER:
            operation = described[name]
            for each in operation.parameters("path"):
                assert example_of(each) is not None, (name, each["name"])
            bodies, kind = operation.bodies(), "application/json"
            contents = [json.dumps(body).encode() for body in bodies] if operation.takes_json else [None]
            if name == "upload_documents":
                contents, kind = [FORM], "multipart/form-data; boundary=part"
            elif name == "put_upload":
                contents, kind = [b"# Leave"], "application/octet-stream"
            assert contents, name
            values = {"document": report} if name.startswith("get_page") else None
            for content in contents:
                for address in operation.example_addresses(values):
                    headers = {} if content is None else {"Content-Type": kind}
                    answer = client.request(operation.method, address, content, headers)
                    assert 200 <= answer.status < 300, (operation.method, address, content, answer.content)
                    assert_headers_are_described(operation, answer)
                    if "etag" in answer.headers and operation.method == "GET":
                        same = client.get(address, If_None_Match=answer.headers["etag"])
                        assert_headers_are_described(operation, same)


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
                has_taken_it = answer.status < 300 and operation.method in {"POST", "PATCH"}
                assert not (has_taken_it and UNSTORABLE.search(body) and operation.described["operationId"] in KEEPING)
        assert client.get("/ready").status == 200
    assert {200, 400, 404, 413, 422} <= statuses


def test_headers_and_files_that_no_client_should_send(base: Stages, knowledge: KnowledgeBase) -> None:
    with serving(knowledge, requires_key=False) as client:
        for operation in operations(description_of(client)):
            if operation.described["operationId"] == "follow_work_request":
                continue  # it lasts
            body = json.dumps(operation.bodies()[0]).encode() if operation.bodies() else None
            for name in ("Idempotency-Key", "If-Match", "If-None-Match", "If-Range", "Range", "Last-Event-ID"):
                for value in ODD_HEADERS:
                    headers = JSON_TYPE if body is not None else {}
                    answer = client.request(operation.method, operation.address(), body, {**headers, name: value})
                    assert_answered(answer, operation.path, f"{operation.method} {name}: {value[:50]!r}")
                    is_refused = name != "Idempotency-Key" or answer.status == 400 or not takes_key(operation)
                    assert is_refused, (operation.method, operation.path, value[:50])
        for file_name in (*ODD_NAMES, b"x" * 10_001):
            form = FORM.replace(b"leave.md", file_name)
            for kind in ("multipart/form-data; boundary=part", "multipart/form-data", "multipart/form-data; boundary="):
                answer = client.request("POST", "/v1/documents?collection=handbook", form, {"Content-Type": kind})
                assert_answered(answer, "/v1/documents", f"{file_name[:50]!r} {kind}")
                assert answer.status in {400, 415, 422}, (file_name[:50], kind)
        assert knowledge.uploads() == []


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
    base: Stages, knowledge: KnowledgeBase, tmp_path: Path, scope: Scope, only: list[str] | None
) -> None:
    """Examples, boundary values, random and stateful requests, with every check that it has; fewer for lesser keys."""
    phases, examples = (PHASES, EXAMPLES) if scope == "admin" else (PHASES_OF_OTHERS, EXAMPLES_OF_OTHERS)
    key(base, "first")  # number 1, which an example revokes
    own = key(base, "own", scope, only)
    with serving(knowledge, requires_key=True, limits=RateLimits(wrong_keys=None)) as client:
        assert client.get("/openapi.json").status == 200  # it is made now: schemathesis waits for it ten seconds only
        status, output = run_schemathesis(client.port, own, tmp_path, examples=examples, seed=1, phases=phases)
        assert Client(client.port, own[1]).get("/v1/collections").status == 200  # it did not revoke its own key
        assert client.get("/ready").status == 200
    said = "\n".join(line[:500] for line in output.splitlines())
    assert status == 0, said[-12_000:]
    generated = re.search(r"([\d,]+) generated", said)
    assert generated is not None
    assert int(generated[1].replace(",", "")) > 200


ORDER = [
    "health",
    "ready",
    "metrics",
    "list_collections",
    "get_collection",
    "get_collection_settings",
    "status",
    "generations",
    "statistics",
    "sources",
    "plan",
    "permissions",
    "usage",
    "search",
    "context",
    "similar",
    "diff",
    "ask",
    "ask_sessions",
    "ask_session",
    "forget_ask_session",
    "facets",
    "retrieval",
    "embeddings",
    "list_models",
    "get_model",
    "chat_completions",
    "open_webui_search",
    "list_documents",
    "lookup_document",
    "get_document",
    "get_chunks",
    "get_related",
    "get_original",
    "get_page",
    "get_page_image",
    "export_document",
    "export_documents",
    "sync",
    "list_work_requests",
    "get_work_request",
    "cancel_work_request",
    "follow_work_request",
    "judge",
    "list_judgments",
    "forget_judgment",
    "change_document",
    "curate_document",
    "remove_document",
    "restore_document",
    "retry_documents",
    "upload_documents",
    "put_upload",
    "list_uploads",
    "get_upload",
    "permit_upload",
    "remove_upload",
    "create_collection",
    "change_collection",
    "add_source",
    "remove_source",
    "rename_collection",
    "delete_collection",
    "list_queries",
    "forget_queries",
    "list_readings",
    "forget_readings",
    "record_llm_call",
    "list_llm_calls",
    "llm_statistics",
    "forget_llm_calls",
    "create_key",
    "list_keys",
    "list_sessions",
    "end_session",
    "revoke_key",
    "audit",
]
"""Operations in the order in which their examples are sent: what one makes, the next ones use."""
FORM = b'--part\r\nContent-Disposition: form-data; name="file"; filename="leave.md"\r\n\r\n# Leave\r\n--part--\r\n'
UNSTORABLE = re.compile(rb"\\\\u0000|\\\\ud[89a-f]")
"""NUL and lone surrogates in JSON: the database can hold neither."""
KEEPING = {
    *("change_collection", "change_document", "curate_document", "create_collection", "create_key", "sync"),
    "add_source",
}
"""Operations that keep what they are sent as it is."""
ODD_HEADERS = ("x" * 10_001, "a b", "caf\xe9", "\t")
ODD_NAMES = (
    b"",
    b".",
    b"..",
    b"../up.md",
    b"/etc/passwd",
    b"a/../../b.md",
    b"a\0b.md",
    b"\xff\xfe.md",
    b"\xed\xa0\x80.md",
)
"""File names: none, ways out, NUL, invalid UTF-8, a lone surrogate."""
OF_OTHERS = ("/retrieval", "/v1/embeddings", "/v1/chat/completions", "/v1/models", "/v1/models/{model}")
"""Paths whose errors have the form that somebody else has laid down."""
JSON_TYPE = {"Content-Type": "application/json"}


def description_of(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/openapi.json").json
    return found


def takes_key(operation: Operation) -> bool:
    """Return whether the description says that an operation takes an idempotency key."""
    return {"$ref": "#/components/parameters/Idempotency-Key"} in operation.described.get("parameters", [])


def assert_answered(answer: Answer, path: str, what: str) -> None:
    """Fail where the server failed, or a refusal is no problem details."""
    assert answer.status < 500, (path, what, answer.content)
    if answer.status >= 400 and path not in OF_OTHERS:
        assert answer.headers["content-type"] == "application/problem+json", (path, what)
        assert answer.json["status"] == answer.status


def assert_headers_are_described(operation: Operation, answer: Answer) -> None:
    """Fail where the description knows another `ETag` or `Location` than the answer has."""
    described = operation.described["responses"][str(answer.status)]
    if "$ref" in described:
        described = operation.components["responses"][described["$ref"].rpartition("/")[2]]
    described = described.get("headers", {})
    named = {name for name in ("ETag", "Location") if name in described}
    assert named == {name for name in ("ETag", "Location") if name.lower() in answer.headers}, operation.path
