"""Home over plain HTTP: what is there, what needs somebody, what runs, and who sees how much of it."""

import re

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.work_requests import ask_for_work, claim_work, end_work, record_progress
from sourcebook.model.access import Scope
from tests.integration.http_server import serving
from tests.integration.page_forms import Browser, fields_of
from tests.integration.stages import Stages

CANARY = "<script>canary()</script>"
CONFIGURATION = f"""\
collections:
  handbook:
    files: [{{root: ./docs/handbook, tags: ["{CANARY}"]}}]
    retention: {{queries: 30d}}
    answering: {{base_url: "http://127.0.0.1:9/v1", model: reader, log: true}}
  personnel: {{files: [{{root: ./docs/personnel}}]}}
"""


def fill(stages: Stages) -> None:
    """Two collections with a damaged file each."""
    stages.write("handbook/power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.write("handbook/lost.pdf", b"%PDF-1.7\nthe rest was lost\n")
    stages.write("personnel/salaries.md", "# Salaries\n\nThe engineer earns a bonus.")
    stages.write("personnel/secret.pdf", b"%PDF-1.7\nthe rest was lost\n")
    stages.configure(CONFIGURATION)
    stages.run_all("handbook", "personnel")


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


def made_key(base: Stages, scope: Scope, *collections: str, principals: tuple[str, ...] | None = None) -> str:
    with base.connection() as connection:
        return create_key(connection, scope, (scope,), collections or None, actor="test", principals=principals)[1]


def test_home_counts_documents_and_names_what_failed_and_why(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        browser = Browser(client)
        page = browser.open("/home")
        assert re.search(r"documents\s*4\b", page.text)
        assert re.search(r"failed\s*2\b", page.text)
        assert re.search(r"2\s+damaged", page.text)
        assert "handbook/lost.pdf" in page.text
        assert "/documents?state=failed" in page.links
        (sent,) = fields_of(page, "/home/retry")
        first, again = browser.send("/home/retry", sent), browser.send("/home/retry", sent)
        assert (first.status, again.headers["location"]) == (303, "/work")
        assert {each.collection: each.arguments["only_failed"] for each in base.knowledge.work_requests()} == {
            "handbook": True,
            "personnel": True,
        }
        assert len(base.knowledge.work_requests()) == 2
        assert browser.send("/home/retry", {"failure": CANARY}).status == 400
        assert browser.send("/home/retry", {**sent, "token": "a" * 43}).status == 403


def test_equal_requests_are_one_row_with_their_number(base: Stages) -> None:
    """Three hundred that wait are one row, on Home and among the work; so are those that one run does."""
    with base.connection() as connection:
        for number in range(300):
            ask_for_work(connection, "handbook", {"documents": [f"file:///{number}.md"]}, asked_by="key website")
        other = ask_for_work(connection, "handbook", {"force": True}, asked_by="key website")
        ended = ask_for_work(connection, "personnel", asked_by="key website")
        claim_work(connection, worker="host:1", number=ended.id)
        end_work(connection, ended.id, "succeeded")
    with serving(base.knowledge, requires_key=False) as client:
        browser = Browser(client)
        for path in ("/home", "/work", "/home/running"):
            page = browser.open(path)
            rows = [held["id"] for tag, held in page.tags if tag == "li" and held.get("id", "").startswith("work-")]
            assert len(rows) == (3 if path == "/work" else 2)
            assert re.search(r"300 requests\s*300 documents\s*by\s*key website", page.text)
            assert "/work?collection=handbook&state=waiting" in page.links
            assert f"/work/{other.id}" in page.links
        assert f"/work/{ended.id}" in browser.open("/work").links
        with base.connection() as connection:
            claimed = claim_work(connection, worker="host:1")
            assert claimed is not None
            record_progress(connection, claimed.id, "documents", 30, 300, 0)
        page = browser.open("/home/running")
        assert re.search(r"300 requests\s*300 documents", page.text)
        assert "reading documents, 30 of 300" in page.text
        assert page.with_id("running")[1]["hx-get"] == "/home/running"


def test_what_was_asked_and_not_found_is_for_administrators(base: Stages) -> None:
    base.knowledge.search(f"quantum {CANARY}", "handbook", filters={"tags_any": ["nothing"]})
    base.knowledge.judge(f"salaries {CANARY}", base.uri("handbook/power.md"), 0)
    base.knowledge.record_llm_call("reader", f"prompt {CANARY}", answer=f"answer {CANARY}", collections=["handbook"])
    base.knowledge.release()
    with base.connection() as connection:
        connection.execute(
            "INSERT INTO logged_query (collection, query, results, asked_at, relevance) VALUES "
            "('handbook', %s, 3, now(), .1), ('handbook', 'batteries', 3, now(), .9), "
            "('handbook', 'old', 3, now(), NULL)",
            [CANARY],
        )
    with serving(base.knowledge, requires_key=True) as client:
        administrator = Browser(client, made_key(base, "admin"))
        page = administrator.open("/home")
        assert "nothing was found" in page.text
        assert f"quantum {CANARY}" in page.text
        assert f"salaries {CANARY}" in page.text
        assert re.search(r"low relevance\s*" + re.escape(CANARY), page.text)
        log = administrator.open("/usage/calls")
        assert f"prompt {CANARY}" in log.text
        assert f"answer {CANARY}" in log.text
        reader = Browser(client, made_key(base, "read"))
        shown = reader.open("/home")
        assert "nothing was found" not in shown.text
        assert "/usage/calls" not in shown.links
        assert fields_of(shown, "/home/retry") == []
        assert reader.send("/home/retry", {"failure": "corrupt"}).status == 403
        assert reader.get("/usage/calls").status == 403


def test_a_key_of_some_collections_sees_the_home_of_these(base: Stages) -> None:
    hidden = base.knowledge.request_work("personnel", actor="key other")
    with serving(base.knowledge, requires_key=True) as client:
        browser = Browser(client, made_key(base, "write", "handbook"))
        page = browser.open("/home")
        for text in ("personnel", "secret.pdf"):
            assert text not in page.text
        assert f"/work/{hidden.id}" not in page.links
        assert re.search(r"1\s+damaged", page.text)
        (sent,) = fields_of(page, "/home/retry")
        browser.send("/home/retry", sent)
        assert [each.collection for each in base.knowledge.work_requests() if each.id != hidden.id] == ["handbook"]
        base.rows("DELETE FROM collection WHERE name = 'handbook' RETURNING 1")
        gone = browser.open("/home")
        assert "There is no collection yet: a key that may administer makes the first one." in gone.text
        assert "personnel" not in gone.text


def test_who_asks_for_principals_sees_the_number_of_documents_and_nothing_more(base: Stages) -> None:
    base.knowledge.request_work("handbook", actor="key other")
    with serving(base.knowledge, requires_key=True) as client:
        browser = Browser(client, made_key(base, "read", principals=("user:anna@example.org",)))
        page = browser.open("/home")
        assert re.search(r"documents\s*4\b", page.text)
        for text in ("lost.pdf", "needs somebody", "failed", "What runs", "passages", "Models"):
            assert text not in page.text
        assert {"/collections", "/work", "/usage", "/keys"} & set(page.links) == set()
        for path in ("/home/running", "/usage/calls"):
            assert browser.get(path).status == 403
        assert browser.send("/home/retry", {"failure": "corrupt"}).status == 403
