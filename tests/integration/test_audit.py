"""The audit of reading: off by default; each open operation records what it shows, in every face."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import account, audit_events
from sourcebook.admin.readings import delete_old_readings
from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.client.remote_knowledge_base import RemoteKnowledgeBase
from sourcebook.command.app import app
from sourcebook.contract.readings import Reading
from sourcebook.errors import AccessError, DatabaseError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.operations.seen import READING
from tests.chat_server import ChatServer
from tests.checkout import EXAMPLES
from tests.integration.http_server import Client, serving
from tests.integration.mcp_client import over_http
from tests.integration.stages import Stages
from tests.integration.test_page_access import signed_in

BOARD = ["user:anna", "group:board"]
FOR_BOARD = ["user:anna", "group:board", "everyone"]


def configure(stages: Stages, retention: str = "{audit: 365d}", more: str = "") -> None:
    """Keep an audit of the collection of the stages."""
    folder = {"root": str(stages.root), "allowed": {"board*": ["group:board"], "**": ["everyone"]}}
    stages.configure(
        f"collections:\n  {stages.collection}:\n    files: [{json.dumps(folder)}]\n    retention: {retention}\n{more}"
    )


def fill(stages: Stages) -> None:
    """Three documents, one of them for the board."""
    stages.write("open.md", "# Open\n\nThe barnacle marks high water. See [board](board.md) and [other](other.md).")
    stages.write("other.md", "# Other\n\nThe barnacle is a crustacean.")
    stages.write("board.md", "# Board\n\nThe barnacle is sold for nine guilders. See [open](open.md).")
    stages.write("report.pdf", (EXAMPLES / "library" / "reports" / "annual-review-2024.pdf").read_bytes())
    configure(stages)
    stages.run()


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


def shown(stages: Stages) -> list[tuple[str, set[str]]]:
    """Return operations with the names of the documents that they showed, in the order of asking, and forget them."""
    found = list(reversed(stages.knowledge.readings(limit=1_000)))
    for each in found:
        assert sorted(each.documents) == sorted(number(stages, uri) for uri in each.uris)
    stages.knowledge.forget_readings()
    return [(each.operation, {uri.rpartition("/")[2] for uri in each.uris}) for each in found]


def number(stages: Stages, uri: str) -> Any:
    with stages.connection() as connection:
        ((found,),) = connection.execute("SELECT id FROM document WHERE uri = %s", [uri]).fetchall()
    return found


def read(knowledge: KnowledgeBase) -> set[str]:
    with knowledge.original("board.md") as original:
        return {original.name}


def one(stages: Stages) -> Reading:
    (found,) = stages.knowledge.readings()
    return found


def named(*answers: Any) -> set[str]:
    """Return the names of the documents of an answer."""
    uris = (each["uri"] if isinstance(each, dict) else each.uri for answer in answers for each in answer)
    return {uri.rpartition("/")[2].partition("#")[0] for uri in uris}


def test_each_open_operation_records_the_documents_that_it_answered(base: Stages, chat: ChatServer) -> None:
    """Also where principals ask; nothing of what they did not see. Answers without documents are recorded, too."""
    knowledge, board = base.knowledge, base.knowledge.seen_by(BOARD)
    answering = {"base_url": chat.url, "model": "smollm2"}
    asked: dict[str, Callable[[], set[str]]] = {
        "search": lambda: named(board.search("barnacle guilders", limit=9).results),
        "similar": lambda: named(board.similar("open.md").results),
        "context": lambda: named((made := board.context("What is a barnacle sold for?")).sources, made.left_out),
        "documents": lambda: named(board.documents()),
        "count_documents": lambda: {str(board.count_documents())} - {"4"},
        "show": lambda: named([board.show("board.md").item]),
        "related": lambda: named(each for each in board.related("open.md") if each.uri),
        "diff": lambda: named([(found := board.diff("open.md", "board.md")).first, found.second]),
        "original": lambda: read(board),
        "page_image": lambda: {"report.pdf"} if board.page_image("report.pdf", 1).png else set(),
        "ask": lambda: {*named(board.ask("Where is the barnacle found?", answering=answering).sources)},
    }
    assert asked.keys() == READING
    for name, ask in asked.items():
        documents, reading = ask(), one(base)
        assert (reading.operation, reading.principals) == (name, FOR_BOARD)
        # A model reads more than it cites.
        assert documents <= named_in(reading) if name == "ask" else documents == named_in(reading), (name, reading)
        assert documents or name == "count_documents"
        assert shown(base)
    for found in (
        knowledge.seen_by(["user:eve"]).search("barnacle guilders", limit=9),
        knowledge.search("barnacle guilders", limit=9, as_principals=[]),
    ):
        assert "board.md" not in named(found.results)
        assert ("search", named(found.results)) in [(each.operation, named_in(each)) for each in knowledge.readings()]
    base.knowledge.forget_readings()
    knowledge.search('"no such words"', mode="keyword", literal=False)
    assert shown(base) == [("search", set())]
    with pytest.raises(AccessError):
        board.readings()


def named_in(reading: Reading) -> set[str]:
    return {uri.rpartition("/")[2] for uri in reading.uris}


def test_answers_in_asyncio_are_recorded(base: Stages) -> None:
    asyncio.run(AsyncKnowledgeBase(base.knowledge).search("guilders", mode="keyword", as_principals=BOARD))
    assert (one(base).principals, named_in(one(base))) == (FOR_BOARD, {"board.md"})


def test_every_face_records_by_its_key_and_for_its_principals(base: Stages, chat: ChatServer) -> None:
    """REST, the page, agents and downloads: one reading each, of exactly what was shown."""
    configure(base, more=f"    answering: {{base_url: '{chat.url}', model: smollm2}}\n")
    base.knowledge.forget_readings()
    with base.connection() as connection:
        _, anna = create_key(connection, "anna", principals=BOARD, actor="test")
        _, portal = create_key(connection, "portal", on_behalf="required", actor="test")
        _, admin = create_key(connection, "admin", scopes=["admin"], actor="test")
    board, report = number(base, base.uri("board.md")), number(base, base.uri("report.pdf"))
    first = {"top_k": 1, "score_threshold": 0}
    dify = {"knowledge_id": base.collection, "query": "guilders", "retrieval_setting": first}
    calls: list[tuple[str, Any, str, set[str]]] = [
        ("/v1/search", {"query": "guilders", "mode": "keyword"}, "search", {"board.md"}),
        ("/v1/similar", {"document": "board.md", "limit": 1}, "similar", {"open.md"}),
        ("/v1/diff", {"first": "open.md", "second": "board.md"}, "diff", {"open.md", "board.md"}),
        (f"/v1/documents/{board}", None, "show", {"board.md"}),
        ("/v1/documents/lookup?name=board.md", None, "show", {"board.md"}),
        (f"/v1/documents/{board}/chunks", None, "show", {"board.md"}),
        (f"/v1/documents/{board}/original", None, "original", {"board.md"}),
        (f"/v1/documents/{board}/export", None, "export", {"board.md"}),
        ("/v1/documents/export", {"documents": [board]}, "export", {"board.md"}),
        (f"/v1/documents/{report}/pages/1.png", None, "page_image", {"report.pdf"}),
        (f"/v1/documents/{report}/pages/1", None, "page_image", {"report.pdf"}),
        ("/v1/documents?text=board.md", None, "documents", {"board.md"}),
        ("/v1/documents?limit=1", None, "documents", {"board.md"}),
        ("/retrieval", dify, "search", {"board.md"}),
        (f"/documents/{board}", None, "show", {"board.md"}),
        (f"/documents/{board}/original", None, "original", {"board.md"}),
        (f"/documents/{board}/export", None, "export", {"board.md"}),
        (f"/documents/{report}/pages/1.png", None, "page_image", {"report.pdf"}),
        ("/?q=guilders", None, "search", {"board.md"}),
    ]
    with serving(base.knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, anna)
        for path, body, operation, documents in calls:
            answer = client.get(path, Accept="*/*") if body is None else client.post(path, body)
            assert answer.status == 200, (path, answer.content)
            readings = {each.operation: each for each in base.knowledge.readings()}
            assert {each.actor for each in readings.values()} == {"key anna"}, path
            assert readings[operation].principals == FOR_BOARD, path
            found = shown(base)
            assert documents <= dict(found)[operation] if path.startswith("/?q") else (operation, documents) in found, (
                path
            )
            assert len(found) == 1 or found[1:] == [("count_documents", set())], (path, found)
        said = over_http(
            anyone.port, lambda agent: agent.ask("search_documents", query="guilders", mode="keyword"), key=anna
        )
        assert "guilders" in str(said)
        assert (one(base).actor, one(base).principals, named_in(one(base))) == ("key anna", FOR_BOARD, {"board.md"})
        assert shown(base)
        over_http(anyone.port, lambda agent: agent.ask("fetch_document", document="board.md"), key=anna)
        over_http(anyone.port, lambda agent: agent.client.read_resource(f"sourcebook://documents/{board}"), key=anna)
        assert {each.actor for each in base.knowledge.readings()} == {"key anna"}
        assert shown(base) == [("show", {"board.md"})] * 2
        over_http(anyone.port, lambda agent: agent.ask("list_documents", limit=1), key=anna)
        assert ("documents", {"board.md"}) in shown(base)
        cited = named(client.post("/v1/ask", {"question": "Where is the barnacle found?"}).json["sources"])
        assert cited <= named_in(one(base))
        assert (one(base).operation, one(base).actor, one(base).principals) == ("ask", "key anna", FOR_BOARD)
        assert shown(base)
        for stream in (False, True):
            messages = [{"role": "user", "content": "Where is the barnacle found?"}]
            asked = {"model": base.collection, "messages": messages, "stream": stream}
            assert "barnacle" in client.post("/v1/chat/completions", asked).content.decode()
            assert (one(base).operation, one(base).actor, one(base).principals) == ("ask", "key anna", FOR_BOARD)
            assert shown(base)
        cookie = signed_in(anyone, anna)
        anyone.get(f"/documents/{board}", Cookie=cookie)
        assert (one(base).actor, one(base).principals, named_in(one(base))) == ("key anna", FOR_BOARD, {"board.md"})
        assert shown(base)
        with RemoteKnowledgeBase(f"http://127.0.0.1:{anyone.port}", key=portal) as remote:
            remote.search("guilders", mode="keyword", as_principals=["user:otto", "group:board"])
            assert (one(base).actor, one(base).principals) == ("key portal", ["user:otto", "group:board", "everyone"])
        with RemoteKnowledgeBase(f"http://127.0.0.1:{anyone.port}", key=admin) as remote:
            assert remote.readings(principal="user:otto") == base.knowledge.readings()
            assert remote.readings(principal="key portal", document="board.md", since=timedelta(days=1))
            assert not remote.readings(document="open.md") + remote.readings(principal="user:anna")
            assert remote.forget_readings() == 1
        assert Client(anyone.port, anna).get("/v1/audit/readings").status == 403
        everyone = {"X-Sourcebook-Principals": "everyone"}
        assert Client(anyone.port, portal).get("/v1/audit/readings", **everyone).status == 403


def test_nothing_is_recorded_by_default(base: Stages) -> None:
    """Without the setting no row is written, and those that were are deleted with the next night."""
    base.knowledge.search("barnacle")
    assert shown(base)
    base.knowledge.search("barnacle")
    configure(base, "{}")
    base.run()
    with base.connection() as connection:
        base.knowledge._recording._known = None  # five seconds later
        base.knowledge.search("barnacle")
        assert len(base.knowledge.readings()) == 1
        assert delete_old_readings(connection) == 1
    assert base.knowledge.readings() == []


def test_old_readings_are_deleted_and_a_collection_takes_its_own_along(base: Stages) -> None:
    base.knowledge.search("barnacle")
    base.knowledge.search("guilders")
    with base.connection() as connection:
        connection.execute("UPDATE audit_reading SET happened_at = now() - '364 days'::interval")
        assert delete_old_readings(connection) == 0
        connection.execute(
            "UPDATE audit_reading SET happened_at = now() - '366 days'::interval WHERE question = 'guilders'"
        )
        assert delete_old_readings(connection) == 1
    assert [each.question for each in base.knowledge.readings()] == ["barnacle"]


def test_questions_are_redacted_and_names_of_persons_come_first(base: Stages) -> None:
    """Of many groups the first hundred are kept."""
    crowd = [*(f"group:{each:04}" for each in range(500)), "USER:zoe"]
    base.knowledge.search("barnacle of ana@example.org with password: hunter22", as_principals=crowd)
    reading = one(base)
    assert reading.question == "barnacle of [e-mail] with password: [secret]"
    assert (len(principals := reading.principals or []), principals[0]) == (100, "user:zoe")


def test_an_answer_that_cannot_be_recorded_is_not_given(base: Stages, chat: ChatServer) -> None:
    """In no face: it fails with the reason, and a model's answer before its first word."""
    with base.connection() as connection:
        connection.execute("ALTER TABLE audit_reading ADD CHECK (question IS NULL OR question <> 'guilders')")
        connection.execute("ALTER TABLE audit_reading ADD CHECK (operation <> 'original')")
    base.knowledge.search("barnacle")
    with pytest.raises(DatabaseError):
        base.knowledge.search("guilders")
    with pytest.raises(DatabaseError):
        base.knowledge.original("board.md")
    events = base.knowledge.ask_stream("guilders", answering={"base_url": chat.url, "model": "smollm2"})
    with pytest.raises(DatabaseError):
        list(events)
    with serving(base.knowledge, requires_key=False) as client:
        answer = client.post("/v1/search", {"query": "guilders"})
        assert answer.status >= 500
        assert "nine" not in answer.content.decode()


def test_many_ask_at_the_same_time(base: Stages) -> None:
    """Every answer has one reading, with its own question and principals."""
    knowledge = base.knowledge

    def search(each: int) -> None:
        knowledge.search(f"barnacle w{each}", mode="keyword", as_principals=[f"user:u{each}"])

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(search, range(40)))
    found = knowledge.readings(limit=100)
    assert {(each.question, each.principals[0]) for each in found if each.principals} == {
        (f"barnacle w{each}", f"user:u{each}") for each in range(40)
    }
    assert len(found) == 40


def test_principals_read_no_row_of_the_audit(base: Stages) -> None:
    """Neither by an operation nor by a statement, even where the role is granted the table by mistake."""
    base.knowledge.search("barnacle")
    base.knowledge.seen_by(BOARD).search("barnacle")
    with base.connection() as connection:
        connection.execute("SET ROLE sourcebook_reader")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM sourcebook.audit_reading")
        connection.execute("RESET ROLE")
        connection.execute("GRANT SELECT ON audit_reading TO sourcebook_reader")
        connection.execute("SET ROLE sourcebook_reader")
        assert connection.execute("SELECT * FROM sourcebook.audit_reading").fetchall() == []
        connection.execute("RESET ROLE")


def test_the_command_lists_filters_and_deletes(base: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", base.database.location.url or "")
    base.knowledge.search("guilders", mode="keyword", as_principals=BOARD)
    base.knowledge.show("open.md")
    run = CliRunner().invoke
    listed = run(app, ["audit"]).output
    assert "user:anna" in listed
    assert "everything" in listed
    found = json.loads(run(app, ["audit", "--json", "--principal", "user:anna", "--since", "1d"]).output)["readings"]
    assert [(each["operation"], each["question"]) for each in found] == [("search", "guilders")]
    assert len(json.loads(run(app, ["audit", "--json", "--document", "open.md"]).output)["readings"]) == 1
    assert "Deleted 2 readings" in run(app, ["audit", "--forget"]).output
    assert "audit.forget" in run(app, ["audit", "--changes"]).output
    assert run(app, ["audit", "--forget", "--since", "1d"]).exit_code == 2


def test_changes_of_permissions_and_groups_are_recorded_with_old_and_new(stages: Stages) -> None:
    """In settings of the file by the account, over the API by the key; a change of anything else records none."""
    files = {"root": str(stages.root)}
    board = {**files, "allowed": {"board/**": ["group:board"], "**": ["everyone"]}, "denied": ["user:eve"]}
    two = ({"board": ["user:anna", "user:otto"]}, {"board": ["user:otto"], "hr": ["group:board"]})

    def configure(source: dict[str, Any], groups: dict[str, list[str]], **settings: Any) -> None:
        collections = {"collections": {stages.collection: {"files": [source], **settings}}, "groups": groups}
        stages.configure(json.dumps(collections))

    configure(board, two[0])
    configure(board, two[0], retention={"audit": "1d"})
    configure({**board, "tags": ["x"]}, two[1])
    configure(files, two[1])
    site = {"url": "https://hr.example.org/", "allowed": ["group:hr"]}
    stages.knowledge.create_collection("hr", {"sites": [site]}, actor="key hr")
    with stages.connection() as connection:
        found = [each for each in reversed(audit_events(connection)) if each.action.endswith("s.change")]
    told = {"allowed": board["allowed"], "denied": ["user:eve"]}
    without = {"added": [], "removed": ["user:anna"]}
    assert [(each.actor, each.action, each.details) for each in found] == [
        (account(), "permissions.change", {"before": None, "after": told}),
        (account(), "groups.change", {"group:board": {"added": ["user:anna", "user:otto"], "removed": []}}),
        (account(), "groups.change", {"group:board": without, "group:hr": {"added": ["group:board"], "removed": []}}),
        (account(), "permissions.change", {"before": told, "after": None}),
        ("key hr", "permissions.change", {"before": None, "after": {"allowed": {"**": ["group:hr"]}}}),
    ]
    assert found[0].subject == f"{stages.root} in {stages.collection}"
