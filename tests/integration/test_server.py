"""The REST server: what it answers, what a key may see, and what it refuses."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import pytest

from sourcebook.admin.access_keys import create_key, list_keys, revoke_key
from sourcebook.admin.audit import audit_events
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.types import SearchAnswer
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages

CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook}]}
  personnel: {files: [{root: ./docs/personnel}]}
"""
POWER = "# Power\n\nThe batteries of the tide gauge last fourteen months. " + "The gauge runs on them alone. " * 3
SALARY = "# Salaries\n\nThe batteries engineer of the harbour earns a marmalade bonus in winter."


def fill(stages: Stages) -> None:
    """Two collections, of which a key may see one."""
    stages.write("handbook/power.md", POWER)
    stages.write("handbook/seal.md", "# Seals\n\nThe seal of the housing is greased in spring.")
    stages.write("personnel/salaries.md", SALARY)
    stages.configure(CONFIGURATION)
    stages.run_all("personnel", "handbook")


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


def key(stages: Stages, name: str, *scopes: str, only: list[str] | None = None, lasts: timedelta | None = None) -> str:
    with stages.connection() as connection:
        _, text = create_key(connection, name, scopes or ("read",), only, lasts=lasts, actor="test")  # type: ignore[arg-type]
    return text


def test_searches_wait_for_their_turn(base: Stages, knowledge: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many come at once, and although a connection is waited for no longer than one of them may take."""
    monkeypatch.setattr("sourcebook.database.pool._SECONDS_TO_WAIT", 0.5)
    knowledge.database.pool.max_size = 1
    with serving(knowledge, requires_key=False) as client, ThreadPoolExecutor(64) as threads:
        asked = [{"query": f"Do the batteries last {months} months?"} for months in range(64)]
        answers = list(threads.map(lambda each: client.post("/v1/search", each), asked))
    assert {answer.status for answer in answers} == {200}, [each.content for each in answers if each.status != 200][:1]


def test_a_local_caller_searches_and_reads_without_a_key(base: Stages, knowledge: KnowledgeBase) -> None:
    with serving(knowledge, requires_key=False) as client:
        query = "How long do the batteries last?"
        asked = {"query": query, "limit": 1, "min_relevance": 0}
        answer = client.post("/v1/search", {**asked, "facets": True, "explain": True, "neighbours": 1})
        assert answer.status == 200
        found = SearchAnswer.model_validate_json(answer.content)
        assert [hit.title for hit in found.results] == ["Power"]
        direct = knowledge.search(query, limit=1, min_relevance=0)[0]
        assert (found.results[0].document_id, found.results[0].uri) == (direct.document_id, direct.uri)
        assert found.results[0].score == pytest.approx(direct.score)

        names = [each["name"] for each in client.get("/v1/collections").json["collections"]]
        assert names == ["handbook", "personnel"]
        handbook = client.get("/v1/collections/handbook").json
        assert (handbook["documents"], handbook["embedding_model"]) == (2, "all-MiniLM-L6-v2")
        assert client.get("/v1/status?collection=handbook").json["collections"][0]["stale"] == 0
        assert len(client.get("/v1/generations").json["generations"]) == 2

        document = client.get(f"/v1/documents/{direct.document_id}")
        assert document.json["text"].startswith("# Power")
        again = client.get(f"/v1/documents/{direct.document_id}", If_None_Match=document.headers["etag"])
        assert (again.status, again.content) == (304, b"")
        chunks = client.get(f"/v1/documents/{direct.document_id}/chunks").json["chunks"]
        assert [chunk["ordinal"] for chunk in chunks] == list(range(len(chunks))) != []
        similar = client.post("/v1/similar", {"document": "handbook/power.md", "collections": "handbook"})
        assert [hit["title"] for hit in similar.json["results"]] == ["Seals"]
        assert client.get("/health").json == client.get("/ready").json == {"status": "ok"}
        assert b"sourcebook_searches_total" in client.get("/metrics").content


def test_pages_of_documents_follow_their_cursors(base: Stages, knowledge: KnowledgeBase) -> None:
    with serving(knowledge, requires_key=False) as client:
        seen: list[str] = []
        cursor = ""
        while True:
            page = client.get(f"/v1/documents?limit=1{cursor}").json
            seen += [each["uri"] for each in page["documents"]]
            if page["next_cursor"] is None:
                break
            cursor = f"&cursor={page['next_cursor']}"
        assert seen == [item.uri for item in knowledge.documents()]
        assert len(seen) == 3
        assert client.get("/v1/documents?text=power&state=ready&kind=file").json["documents"][0]["title"] == "Power"
        assert client.get("/v1/documents?state=failed").json == {
            "documents": [],
            "total": 0,
            "next_cursor": None,
        }


def test_what_a_key_may_not_see_does_not_exist_for_it(base: Stages, knowledge: KnowledgeBase) -> None:
    limited = key(base, "website", only=["handbook"])
    (secret,) = knowledge.documents("personnel")
    (state,) = knowledge.generations("personnel")
    with serving(knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, limited)
        found = client.post("/v1/search", {"query": "batteries marmalade", "limit": 50, "min_relevance": 0})
        assert {hit["collection"] for hit in found.json["results"]} == {"handbook"}
        assert b"marmalade bonus" not in found.content
        for hidden, missing in [
            (client.get("/v1/collections/personnel"), client.get("/v1/collections/nothing")),
            (client.get("/v1/status?collection=personnel"), client.get("/v1/status?collection=nothing")),
            (client.get("/v1/documents?collection=personnel"), client.get("/v1/documents?collection=nothing")),
            (client.get(f"/v1/documents/{secret.document_id}"), client.get("/v1/documents/999999")),
            (client.get(f"/v1/documents/{secret.document_id}/chunks"), client.get("/v1/documents/999999/chunks")),
            (
                client.post("/v1/search", {"query": "bonus", "collections": ["personnel"]}),
                client.post("/v1/search", {"query": "bonus", "collections": ["nothing"]}),
            ),
            (
                client.post("/v1/search", {"query": "bonus", "generation": state.id}),
                client.post("/v1/search", {"query": "bonus", "generation": 999_999}),
            ),
            (
                client.post("/v1/similar", {"document": secret.uri}),
                client.post("/v1/similar", {"document": "salaries-of-nobody.md"}),
            ),
            (
                client.post("/v1/diff", {"first": "handbook/power.md", "second": secret.document_id}),
                client.post("/v1/diff", {"first": "handbook/power.md", "second": "salaries-of-nobody.md"}),
            ),
        ]:
            assert (hidden.status, hidden.json) == (missing.status, missing.json)
            assert hidden.status == 404
        assert [each["name"] for each in client.get("/v1/collections").json["collections"]] == ["handbook"]
        assert {each["collection"] for each in client.get("/v1/documents").json["documents"]} == {"handbook"}
        assert {each["collection"] for each in client.get("/v1/generations").json["generations"]} == {"handbook"}
        assert client.get("/metrics").status == 403


def test_a_key_is_refused_once_it_is_revoked_or_has_expired(base: Stages, knowledge: KnowledgeBase) -> None:
    valid, short, gone = (
        key(base, "reader"),
        key(base, "guest", lasts=timedelta(hours=1)),
        key(base, "former", "admin"),
    )
    with base.connection() as connection:
        revoke_key(connection, "former", actor="test")
        connection.execute("UPDATE access_key SET expires_at = now() - interval '1 s' WHERE name = 'guest'")
    with serving(knowledge, requires_key=True) as anyone:
        description = anyone.get("/openapi.json").json["paths"]
        refusing = {
            path
            for path, methods in description.items()
            for method in methods
            if anyone.request(method.upper(), re.sub(r"{\w+}", "1", path)).status == 401
        }
        assert set(description) - refusing == {"/health", "/ready"}
        assert [Client(anyone.port, each).get("/v1/collections").status for each in (valid, short, gone)] == [
            200,
            401,
            401,
        ]
        for sent in ("Bearer", "Bearer sb_", f"Basic {valid}", f"Bearer {valid[:-1]}", "Bearer sb_\xe4"):
            refused = anyone.get("/v1/collections", Authorization=sent)
            assert refused.status == 401
            assert refused.headers["content-type"] == "application/problem+json"
        with base.connection() as connection:
            revoke_key(connection, "reader", actor="test")
        assert Client(anyone.port, valid).get("/v1/collections").status == 401
    with base.connection() as connection:
        keys = {each.name: each for each in list_keys(connection)}
        done = [(event.actor, event.action, event.subject) for event in audit_events(connection)]
        stored = connection.execute(
            "SELECT access_key::text || audit_event::text FROM access_key, audit_event"
        ).fetchall()
    assert {name: each.state for name, each in keys.items()} == {
        "reader": "revoked",
        "guest": "expired",
        "former": "revoked",
    }
    assert keys["reader"].used_at is not None
    assert done[0] == ("test", "key.revoke", "key reader")
    assert len(done) == 5
    assert not any(text[len("sb_ABCDEF") :] in row for (row,) in stored for text in (valid, short, gone))


def test_a_page_that_leads_its_own_name_here_is_refused(base: Stages, knowledge: KnowledgeBase) -> None:
    """DNS rebinding: a browser sends the name of the page, not of this machine."""
    with serving(knowledge, requires_key=False) as client:
        for host in (f"rebound.example:{client.port}", "rebound.example", ""):
            assert client.post("/v1/search", {"query": "power"}, Host=host).status in {400, 401}
        assert client.post("/v1/search", {"query": "power"}, Host=f"localhost:{client.port}").status == 200
        simple = client.request("POST", "/v1/search", b'{"query": "power"}', {"Content-Type": "text/plain"})
        assert simple.status == 422  # what a page may send without asking first is no request


def test_errors_are_problems_that_repeat_nothing(base: Stages, knowledge: KnowledgeBase) -> None:
    canary = "<script>canary</script>"
    with serving(knowledge, requires_key=False) as client:
        for status, answer in [
            (422, client.post("/v1/search", {"query": canary, "limit": 0})),
            (422, client.post("/v1/search", {"query": " "})),
            (422, client.post("/v1/search", {"query": canary + "x" * 100_001})),
            (400, client.post("/v1/search", {"query": "a", "rerank": f"/tmp/{canary}"})),
            (400, client.post("/v1/search", {"query": canary, "fusion": {"vector": 0, "keyword": 0}})),
            (400, client.post("/v1/search", {"query": "a", "filters": {canary: 1}})),
            (400, client.post("/v1/search", {"query": "a", "filters": {"kinds": canary}})),
            (400, client.post("/v1/search", {"query": "a", "filters": {"metadata": {canary: {canary: 1}}}})),
            (404, client.post("/v1/search", {"query": "a", "collections": canary})),
            (422, client.post("/v1/search", {"query": "a", canary: 1})),
            (422, client.post("/v1/search", {"query": "a", "mode": canary})),
            (422, client.post("/v1/search", [canary])),
            (400, client.post("/v1/search", b'{"query": "<script>canary')),
            (422, client.post("/v1/search", b"\xff\xfe<script>canary", Content_Type="text/html")),
            (404, client.get("/v1/collections/%3Cscript%3Ecanary%3C%2Fscript%3E")),
            (404, client.get("/v1/documents/99999999999999999999999")),
            (404, client.get("/v1/documents/%3Cscript%3Ecanary")),
            (422, client.get("/v1/documents?cursor=%3Cscript%3Ecanary")),
            (400, client.get("/v1/documents?cursor=canary")),
            (422, client.get("/v1/documents?state=%3Cscript%3Ecanary")),
            (404, client.get("/v1/%3Cscript%3Ecanary")),
            (405, client.request("DELETE", "/v1/search")),
            (413, client.post("/v1/search", b"x" * 1_000_001)),
        ]:
            assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
            assert answer.json["status"] == status
            assert answer.json["detail"]
            assert b"canary" not in answer.content


def test_an_address_names_its_methods(base: Stages, knowledge: KnowledgeBase) -> None:
    with serving(knowledge, requires_key=False) as client:
        for path, methods in client.get("/openapi.json").json["paths"].items():
            refused = client.request("TRACE", re.sub(r"{\w+}", "1", path))
            assert refused.status == 405
            assert {method.upper() for method in methods} <= set(refused.headers["allow"].split(", "))


def test_odd_characters_are_searched_for_and_break_nothing(base: Stages, knowledge: KnowledgeBase) -> None:
    with serving(knowledge, requires_key=False) as client:
        assert client.post("/v1/search", {"query": "batteries \ud800"}).status == 422
        for query in ("batteries \0", "\U0010ffff batteries", "'; DROP TABLE chunk; --"):
            assert client.post("/v1/search", {"query": query}).status == 200
        for path in ("%00", "%ff", "..%2f..%2fetc", "%ed%a0%80"):
            assert client.get(f"/v1/collections/{path}").status == 404
            assert client.get(f"/v1/documents?text={path}").status == 200


def test_the_server_says_so_where_the_database_is_away(base: Stages, knowledge: KnowledgeBase) -> None:
    with serving(knowledge, requires_key=False) as client:
        assert client.get("/ready").status == 200
        with base.connection() as connection:
            connection.execute("ALTER TABLE sourcebook.collection RENAME TO collection_away")
        try:
            away = client.get("/ready")
            assert (away.status, away.headers["content-type"]) == (503, "application/problem+json")
            assert client.get("/health").status == 200
        finally:
            with base.connection() as connection:
                connection.execute("ALTER TABLE sourcebook.collection_away RENAME TO collection")
        assert client.get("/ready").status == 200


@pytest.mark.parametrize("filters", ["[" * 100_000 + "]" * 100_000, "9" * 5_000])
def test_json_that_no_parser_reads_is_said_to_be_so(base: Stages, knowledge: KnowledgeBase, filters: str) -> None:
    with serving(knowledge, requires_key=False) as client:
        answer = client.post("/v1/search", f'{{"query": "a", "filters": {filters}}}'.encode())
        assert answer.status == 400
        assert answer.json["detail"].startswith("the body cannot be read: its JSON is nested too deep")


def test_a_parameter_that_does_not_exist_is_refused(base: Stages, knowledge: KnowledgeBase) -> None:
    """An ignored one would answer another question; the sentence names those that there are, and not what was sent."""
    with serving(knowledge, requires_key=False) as client:
        for path in ("/v1/documents?skip=10", "/v1/collections?name_search=hand", "/v1/documents?limit=1&Limit=2"):
            answer = client.get(path)
            assert answer.status == 422, path
            assert answer.json["detail"].startswith("the query: the address has no such parameter; it has ")
            assert "skip" not in answer.json["detail"]
        assert "limit" in client.get("/v1/documents?skip=10").json["detail"]
        assert client.get("/v1/documents?limit=1").status == 200
        assert client.post("/v1/search?limit=1", {"query": "seal"}).status == 422


def test_a_client_of_a_public_generator_has_types_for_errors(
    base: Stages, knowledge: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Generated from the description as it is, without a warning."""
    with serving(knowledge, requires_key=True) as client:
        description, options = tmp_path / "openapi.json", tmp_path / "options.yaml"
        description.write_bytes(client.get("/openapi.json").content)
        options.write_text("post_hooks: []\npackage_name_override: made_client\n")
        command = ["generate", f"--path={description}", f"--config={options}", "--meta=none"]
        made = [str(Path(sys.executable).with_name("openapi-python-client")), *command]
        made.append(f"--output-path={tmp_path / 'made_client'}")
        told = subprocess.run(made, capture_output=True, text=True, check=True, cwd=tmp_path)
        assert "arning" not in told.stdout + told.stderr, told.stdout[:2000]
        monkeypatch.syspath_prepend(tmp_path)
        search, types = import_module("made_client.api.search.search"), import_module("made_client.models")
        caller = import_module("made_client").AuthenticatedClient
        url, body = f"http://127.0.0.1:{client.port}", types.SearchQuery(query="When is the seal greased?")
        right = key(base, "reader")
        with caller(url, token=right) as known, caller(url, token=f"{right}x") as unknown:
            answer = search.sync(client=known, body=body)
            assert isinstance(answer, types.SearchAnswer)
            assert answer.results[0].title == "Seals"
            refused = search.sync(client=unknown, body=body)
            assert isinstance(refused, types.ProblemDetails)
            assert (refused.status, refused.detail) == (
                401,
                "the key is not valid: it may have expired or been revoked",
            )
