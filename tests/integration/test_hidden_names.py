"""A key learns of others neither names nor, by the time of an answer, documents; and it fills no list of work."""

from typing import Any

import pytest

from sourcebook.admin import items, work_requests
from sourcebook.admin.access_keys import create_key
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("handbook/power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.write("personnel/salaries.md", "# Salaries\n\nThe engineer earns a bonus in winter.")
    stages.configure(
        "collections:\n"
        "  handbook: {files: [{root: ./docs/handbook}]}\n"
        "  personnel: {files: [{root: ./docs/personnel}]}\n"
    )
    stages.run_all("handbook", "personnel")
    return stages


def test_names_of_other_keys_and_hidden_documents_stay_unknown(base: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    with base.connection() as connection:
        limited = create_key(connection, "limited", ("admin",), ["handbook"], actor="test")[1]
        colleague = create_key(connection, "colleague", ("write",), ["handbook"], actor="test")[1]
        secret = create_key(connection, "merger", ("admin",), actor="test")[1]
    (hidden,) = base.knowledge.documents("personnel")
    with serving(base.knowledge, requires_key=True) as anyone:
        mine = Client(anyone.port, limited)
        numbers = []
        for text in (colleague, secret):
            asker = Client(anyone.port, text)
            numbers.append(asker.post("/v1/collections/handbook/sync", {}).json["id"])
            sent = asker.request("PUT", f"/v1/uploads/handbook/{len(numbers)}.md", b"# Leave")
            assert sent.status == 202
        authors = [mine.get(f"/v1/work-requests/{number}").json["asked_by"] for number in numbers]
        assert authors == ["key colleague", "somebody else"]
        for path in ("/v1/work-requests", "/v1/uploads", "/v1/uploads/handbook/2.md"):
            content = mine.get(path).content
            assert b"somebody else" in content
            assert b"merger" not in content
        assert b"key merger" in Client(anyone.port, secret).get("/v1/work-requests").content
        wanted = {"name": "merger", "collections": ["handbook"]}
        assert [mine.post("/v1/keys", wanted).status for _ in range(2)] == [201, 400]  # taken by the one that it sees
        assert Client(anyone.port, secret).post("/v1/keys", {**wanted, "name": "colleague"}).status == 400

        read: list[Any] = []
        monkeypatch.setattr(items, "_document", lambda *given: read.append(given))
        for name in (hidden.document_id, hidden.uri):
            assert mine.get(f"/v1/documents/lookup?name={name}").status == 404
        assert mine.get(f"/v1/documents/{hidden.document_id}").status == 404
        assert read == []  # so that it takes as long as what does not exist


def test_the_waiting_requests_of_a_key_are_limited(base: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_requests, "MOST_WAITING", 2)
    with base.connection() as connection:
        text, other = (create_key(connection, name, ("write",), actor="test")[1] for name in ("busy", "other"))
    with serving(base.knowledge, requires_key=True) as anyone:
        busy = Client(anyone.port, text)
        answers = [busy.post("/v1/collections/handbook/sync", {}) for _ in range(3)]
        assert [each.status for each in answers] == [202, 202, 429]
        assert answers[-1].headers["retry-after"] == "60"
        assert "wait already" in answers[-1].json["detail"]
        assert busy.request("PUT", "/v1/uploads/handbook/a.md", b"# Leave").status == 429
        assert base.knowledge.uploads() == []
        assert Client(anyone.port, other).post("/v1/collections/handbook/sync", {}).status == 202
        base.knowledge.request_work("handbook")
        assert busy.request("POST", f"/v1/work-requests/{answers[0].json['id']}/cancel", b"").status == 200
        assert busy.request("PUT", "/v1/uploads/handbook/a.md", b"# Leave").status == 202
