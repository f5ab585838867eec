"""The log of requests, and its metrics: who asked for what, of which collection, how long it took; no word of it."""

import json
from pathlib import Path

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.errors import SourcebookError
from sourcebook.server.request_log import opened_log
from sourcebook.telemetry.measurements import REQUESTS, measurements
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages
from tests.waiting import wait_until

CANARY = "zanzibar"


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("handbook/power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.configure("collections:\n  handbook: {files: [{root: ./docs/handbook}]}\n")
    stages.run()
    return stages


def test_every_request_has_a_line_and_is_counted(base: Stages, tmp_path: Path) -> None:
    with base.connection() as connection:
        text = create_key(connection, "website", actor="test")[1]
    log = tmp_path / "requests.jsonl"
    call = {"name": "search_documents", "arguments": {"query": CANARY, "collections": ["handbook"], "mode": "keyword"}}
    wrong = {"name": "fetch_document", "arguments": {"document": CANARY}}
    accept = "application/json, text/event-stream"
    with serving(base.knowledge, requires_key=True, request_log=log) as anyone:
        client = Client(anyone.port, text)
        sent = {"query": CANARY, "collections": "handbook", "mode": "keyword"}
        assert client.post("/v1/search", sent, X_Request_Id="mine-1").headers["x-request-id"] == "mine-1"
        made = client.get(f"/v1/{CANARY}", X_Request_Id="<script>").headers["x-request-id"]
        assert len(made) == 16
        assert client.get("/v1/documents/1").status == 200
        assert Client(anyone.port, "sb_wrong").get(f"/v1/search/{CANARY}").status == 404
        assert anyone.get(f"/?q={CANARY}", Accept="text/html").status == 303
        for number, asked in enumerate((call, wrong)):
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": asked}
            assert client.post("/mcp", message, Accept=accept).status == 200
        lines = wait_until(lambda: log.read_text().splitlines() if log.read_text().count("\n") == 7 else None)
    assert CANARY not in log.read_text()
    found = [json.loads(line) for line in lines]
    assert [(each["key"], each["operation"], each["collections"], each["status"]) for each in found] == [
        ("website", "search", ["handbook"], 200),
        (None, "unknown", [], 404),
        ("website", "get_document", ["handbook"], 200),
        (None, "unknown", [], 404),
        (None, "GET /", [], 303),
        ("website", "tool search_documents", ["handbook"], 200),
        ("website", "tool fetch_document", [], 200),
    ]
    assert [each["id"] for each in found[:2]] == ["mine-1", made]
    assert [each.get("failed", False) for each in found] == [False] * 6 + [True]
    assert all(each["milliseconds"] > 0 and each["time"].endswith("+00:00") for each in found)
    totals = measurements.totals()
    for labels in (("search", "200"), ("unknown", "404"), ("tool fetch_document", "failed")):
        assert totals[REQUESTS.name, labels, "total"] >= 1


def test_a_log_that_cannot_be_written_is_said_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(SourcebookError, match="cannot be written: No such file or directory"):
        opened_log(str(tmp_path / "missing" / "requests.jsonl"))
