"""Work on the page: asked for by a form, followed, cancelled; by whom it may be, and by whom not."""

import re
import time
from collections.abc import Iterator
from http.client import HTTPResponse

import pytest

from sourcebook.admin.access_keys import create_key, list_keys, revoke_key
from sourcebook.admin.audit import audit_events
from sourcebook.admin.work_requests import ask_for_work, claim_work, end_work, record_progress
from sourcebook.model.access import Scope
from tests.integration.event_stream import opened
from tests.integration.http_server import Client, serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser, fields_of
from tests.integration.stages import Stages

CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook}]}
  personnel: {files: [{root: ./docs/personnel}]}
"""


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Two collections that nothing was ingested of."""
    for name in ("handbook", "personnel"):
        stages.write(f"{name}/a.md", "# A")
    stages.configure(CONFIGURATION)
    return stages


@pytest.fixture
def open_server(base: Stages) -> Iterator[Client]:
    with serving(base.knowledge, requires_key=False, dagster_url="http://dagster.example:3000/") as client:
        yield client


def made_key(base: Stages, scope: Scope, *collections: str) -> str:
    with base.connection() as connection:
        return create_key(connection, scope, (scope,), collections or None, actor="test")[1]


def test_a_collection_is_brought_up_to_date_by_one_form_sent_twice(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    sent = next(each for each in fields_of(browser.open("/collections"), "/work") if each["collection"] == "handbook")
    first, again = browser.send("/work", sent), browser.send("/work", sent)
    (request,) = base.knowledge.work_requests()
    assert (request.collection, request.arguments, request.asked_by) == ("handbook", {}, "local caller")
    for answer in (first, again):
        assert (answer.status, answer.headers["location"]) == (303, f"/work/{request.id}")
    page = browser.open(first.headers["location"])
    assert re.search(r"waiting\s+for a worker", page.text)
    assert "everything that changed" in page.text
    assert "a worker takes it" in page.text.lower()


def test_progress_is_shown_until_it_ends(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    work = base.knowledge.request_work("handbook", documents=["file:///a%20b.md"], only_failed=True, actor="key web")
    with base.connection() as connection:
        claim_work(connection, worker="host:7", run_id="0b6f")
        record_progress(connection, work.id, "documents", 1_500, 6_000, 2)
    page = browser.open(f"/work/{work.id}")
    assert "reading documents, 1,500 of 6,000, 2 failed" in page.text
    assert "/a b.md, only what failed" in page.text
    assert "http://dagster.example:3000/runs/0b6f" in page.links
    bar = next(held for tag, held in page.tags if tag == "progress")
    assert (bar["value"], bar["max"]) == ("1500", "6000")
    assert page.with_id("work")[1]["hx-sse:connect"] == f"/work/{work.id}/events"
    assert "1,500 of 6,000" in browser.open("/work").text
    with base.connection() as connection:
        end_work(connection, work.id, "failed", "<script>canary()</script> is away")
    over = browser.open(f"/work/{work.id}")
    assert "<script>canary()</script> is away" in over.text
    assert "hx-sse:connect" not in over.with_id("work")[1]
    assert "hx-sse:connect" not in browser.open("/work").with_id("work")[1]


def heard(answer: HTTPResponse) -> Iterator[tuple[str, Page]]:
    """Yield the name and the page part of each event."""
    name, data = "", ""
    for line in answer:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            data += value + "\n"
        elif not field and data:
            yield name, Page(data.encode())
            name, data = "", ""


def test_progress_comes_as_events_within_a_second(base: Stages, open_server: Client) -> None:
    work = base.knowledge.request_work("handbook", actor="key web")
    with opened(open_server, f"/work/{work.id}/events") as answer, base.connection() as connection:
        assert answer.getheader("content-type", "").startswith("text/event-stream")
        events = heard(answer)
        assert "for a worker" in next(events)[1].text
        claim_work(connection, worker="host:7")
        assert "running" in next(events)[1].text
        began = time.monotonic()
        record_progress(connection, work.id, "documents", 3, 9, 0)
        assert "reading documents, 3 of 9" in next(events)[1].text
        assert time.monotonic() - began < 1
        end_work(connection, work.id, "failed", "<script>canary()</script>\nis away")
        name, part = next(events)
        assert (name, part.acting()) == ("", [])
        assert "<script>canary()</script>" in part.text
        assert [name for name, _ in events] == ["ended"]


def test_the_list_comes_as_events(base: Stages, open_server: Client) -> None:
    """Of the requests that the page shows, until all have ended; a request that comes meanwhile is among them."""
    first = base.knowledge.request_work("handbook", actor="key web")
    page = Browser(open_server).open("/work?collection=handbook")
    address = page.with_id("work")[1]["hx-sse:connect"] or ""
    assert address.startswith("/work/events?collection=handbook")
    assert Browser(open_server).get("/work/events?state=asleep").status == 400
    with opened(open_server, address) as answer, base.connection() as connection:
        events = heard(answer)
        assert "for a worker" in next(events)[1].text
        claim_work(connection, worker="host:7")
        record_progress(connection, first.id, "documents", 3, 9, 0)
        began = time.monotonic()
        assert any("reading documents, 3 of 9" in part.text for _, part in events)
        assert time.monotonic() - began < 2
        second = ask_for_work(connection, "handbook", asked_by="key web", idempotency_key="second")
        ask_for_work(connection, "personnel", asked_by="key web")
        end_work(connection, first.id, "failed", "<script>canary()</script>\nis away")
        name, part = next(each for each in events if f"/work/{second.id}" in each[1].links)
        assert (name, part.acting()) == ("", [])
        assert "personnel" not in part.text
        assert claim_work(connection, worker="host:7") is not None
        end_work(connection, second.id, "succeeded")
        assert [name for name, _ in events][-1] == "ended"


def test_events_end_with_the_key(base: Stages) -> None:
    key = made_key(base, "read", "handbook")
    seen, hidden = (base.knowledge.request_work(name) for name in ("handbook", "personnel"))
    with serving(base.knowledge, requires_key=True) as client:
        cookie = "; ".join(f"{name}={value}" for name, value in Browser(client, key).cookies.items())
        assert client.get(f"/work/{hidden.id}/events", Cookie=cookie).status == 404
        with opened(client, f"/work/{seen.id}/events", Cookie=cookie) as answer, base.connection() as connection:
            events = heard(answer)
            assert next(events)[1].text
            revoke_key(connection, list_keys(connection)[0].id, actor="test")
            claim_work(connection, worker="host:7")
            assert [name for name, _ in events if name] == ["ended"], "signs of life have no name"


def test_a_request_is_cancelled(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    waiting = base.knowledge.request_work("handbook", actor="key web")
    browser.open(f"/work/{waiting.id}")
    answer = browser.send(f"/work/{waiting.id}/cancel")
    assert (answer.status, answer.headers["location"]) == (303, f"/work/{waiting.id}")
    page = browser.open(f"/work/{waiting.id}")
    assert "cancelled" in page.text
    assert fields_of(page, f"/work/{waiting.id}/cancel") == []
    running = base.knowledge.request_work("handbook", actor="key web")
    with base.connection() as connection:
        claim_work(connection, worker="host:7")
    browser.send(f"/work/{running.id}/cancel")
    assert "stopping" in browser.open(f"/work/{running.id}").text
    with base.connection() as connection:
        cancels = [each for each in audit_events(connection) if each.action == "work.cancel"]
    assert {each.actor for each in cancels} == {"local caller"}


def test_the_list_is_filtered_and_goes_on(base: Stages, open_server: Client) -> None:
    with base.connection() as connection:
        numbers = [ask_for_work(connection, "handbook", asked_by="key web").id for _ in range(31)]
        ask_for_work(connection, "personnel", asked_by="key web")
    browser = Browser(open_server)
    first = browser.open("/work?collection=handbook&state=waiting")
    assert "/work/32" not in first.links
    (older,) = [link for link in first.links if "before=" in link]
    assert f"/work/{numbers[0]}" in browser.open(older).links
    assert "No request is like this." in browser.open("/work?state=failed").text
    for path, status in (
        ("/work?state=asleep", 400),
        ("/work?before=0", 422),
        ("/work?collection=%00", 404),
        ("/work/0", 404),
        (f"/work/{1 << 70}", 404),
        ("/work/x", 422),
    ):
        assert browser.get(path).status == status


def test_what_a_key_may_not_see_or_do_is_not_there(base: Stages) -> None:
    hidden = base.knowledge.request_work("personnel", actor="key web")
    seen = base.knowledge.request_work("handbook", actor="key web")
    with serving(base.knowledge, requires_key=True) as client:
        assert client.request("POST", "/work", b"", {"Accept": "text/html"}).headers["location"] == "/sign-in?next=%2F"
        reader = Browser(client, made_key(base, "read", "handbook"))
        writer = Browser(client, made_key(base, "write", "handbook"))
        for browser in (reader, writer):
            page = browser.open("/work")
            assert f"/work/{seen.id}" in page.links
            assert "personnel" not in page.text
            for missing in (hidden.id, 999):
                assert browser.get(f"/work/{missing}").status == 404
        assert fields_of(reader.open("/collections"), "/work") == []
        assert fields_of(reader.open(f"/work/{seen.id}"), f"/work/{seen.id}/cancel") == []
        for path in ("/work", f"/work/{seen.id}/cancel", f"/work/{hidden.id}/cancel"):
            assert reader.send(path, {"collection": "handbook"}).status == 403
        assert len(fields_of(writer.open("/collections"), "/work")) == 1
        for missing in (hidden.id, 999):
            assert writer.send(f"/work/{missing}/cancel").status == 404
        for name in ("personnel", "nothing", ""):
            assert writer.send("/work", {"collection": name}).status == 404
        assert writer.send("/work", {"collection": "handbook"}).status == 303
    assert {each.state for each in base.knowledge.work_requests()} == {"waiting"}


def test_a_form_of_elsewhere_changes_nothing(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    browser.open("/collections")
    for token, headers in (
        ("", None),
        ("a" * 43, None),
        (None, {"Sec-Fetch-Site": "cross-site"}),
        (None, {"Sec-Fetch-Site": "same-site"}),
    ):
        answer = browser.send("/work", {"collection": "handbook"}, token=token, headers=headers)
        said = b"came from elsewhere" if headers is None else b"a page of another site sent this"
        assert (answer.status, said in answer.content) == (403, True)
    assert Browser(open_server).send("/work", {"collection": "handbook"}).status == 403
    assert base.knowledge.work_requests() == []
    for odd in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "none"}):
        sent = {"Origin": "null", **odd}
        assert browser.send("/work", {"collection": "handbook"}, headers=sent).status == 403
    assert base.knowledge.work_requests() == []
    for own in ({}, {"Origin": "null"}, {"Origin": f"http://127.0.0.1:{open_server.port}"}):
        sent = {"Sec-Fetch-Site": "same-origin", **own}
        assert browser.send("/work", {"collection": "handbook"}, headers=sent).status == 303


def test_a_key_of_a_collection_that_is_gone_sees_no_work(base: Stages) -> None:
    key = made_key(base, "write", "handbook")
    base.rows("DELETE FROM collection WHERE name = 'handbook' RETURNING 1")
    base.knowledge.request_work("personnel", actor="key web")
    with serving(base.knowledge, requires_key=True) as client:
        assert "Nothing was asked for yet." in Browser(client, key).open("/work").text
