"""What failed, on the page: why, and tried again, one, several or all."""

import re
from collections.abc import Iterator

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.model.cursors import cursor_of
from tests.integration.http_server import Client, serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser, fields_of
from tests.integration.stages import Stages

DAMAGED = b"%PDF-1.7\nthe rest was lost\n"


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Two collections with damaged documents, and one without."""
    stages.write("handbook/a.pdf", DAMAGED)
    stages.write("handbook/b.pdf", DAMAGED + b"b")
    stages.write("letters/<img onerror=canary()>.pdf", DAMAGED + b"c")
    stages.write("whole/d.md", "# D\n\nWhole.")
    names = ("handbook", "letters", "whole")
    stages.configure("collections:\n" + "".join(f"  {name}: {{files: [{{root: ./docs/{name}}}]}}\n" for name in names))
    for name in names:
        stages.collection = name
        stages.raw_files()
        stages.documents()
    return stages


@pytest.fixture
def open_server(base: Stages) -> Iterator[Client]:
    with serving(base.knowledge, requires_key=False) as client:
        yield client


def boxes(page: Page) -> list[str]:
    return [held["value"] for tag, held in page.tags if tag == "input" and held.get("type") == "checkbox"]


def asked(base: Stages) -> dict[str, list[str]]:
    """Return the names of the documents of each request, by collection."""
    found = base.knowledge.work_requests()
    assert all(each.arguments.pop("only_failed") for each in found)
    return {each.collection: [uri.rpartition("/")[2] for uri in each.arguments.get("documents", [])] for each in found}


def test_one_that_failed_is_tried_again_by_a_form_sent_twice(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    page = browser.open("/documents?state=failed")
    assert re.search(r"unreadable|damaged", page.text)
    assert len(boxes(page)) == 3
    (fields,) = fields_of(page, "/documents/retry")
    sent = {**fields, "which": "ticked", "item": boxes(page)[:1]}
    first, again = browser.send("/documents/retry", sent), browser.send("/documents/retry", sent)
    assert asked(base) == {"handbook": ["a.pdf"]}
    (request,) = base.knowledge.work_requests()
    assert first.headers["location"] == again.headers["location"] == f"/work/{request.id}"


def test_one_that_failed_is_tried_again_from_its_own_page(base: Stages, open_server: Client) -> None:
    (item,) = base.knowledge.documents("handbook", text="b.pdf")
    browser = Browser(open_server)
    (fields,) = fields_of(browser.open(f"/documents/{item.document_id}"), "/documents/retry")
    browser.send("/documents/retry", fields)
    assert asked(base) == {"handbook": ["b.pdf"]}
    (whole,) = base.knowledge.documents("whole")
    assert fields_of(browser.open(f"/documents/{whole.document_id}"), "/documents/retry") == []


def test_several_are_tried_again_collection_by_collection(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    page = browser.open("/documents?state=failed")
    answer = browser.send("/documents/retry", {"which": "ticked", "item": boxes(page)})
    assert (answer.status, answer.headers["location"]) == (303, "/work")
    assert asked(base) == {"handbook": ["a.pdf", "b.pdf"], "letters": ["%3Cimg%20onerror=canary()%3E.pdf"]}
    browser.open("/work")  # acts in no way


def test_all_that_failed_are_tried_again(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    browser.open("/documents?state=failed")
    browser.send("/documents/retry", {"which": "all", "collection": ""})
    assert asked(base) == {"handbook": [], "letters": []}
    answer = browser.send("/documents/retry", {"which": "all", "collection": "letters"})
    assert answer.headers["location"] == f"/work/{base.knowledge.work_requests()[0].id}"


def test_nothing_ticked_and_other_texts_are_refused(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    browser.open("/documents?state=failed")
    for fields, status in (
        ({"which": "ticked"}, 400),
        ({"item": "nonsense"}, 400),
        ({"item": cursor_of("nothing", "file:///a")}, 404),
        ({"which": "all", "collection": "nothing"}, 404),
        ({"which": "ticked", "item": ["x"] * 300}, 400),
    ):
        assert browser.send("/documents/retry", fields).status == status
    assert base.knowledge.work_requests() == []


def test_only_a_key_that_may_write_retries_and_only_what_it_sees(base: Stages) -> None:
    with base.connection() as connection:
        reader = create_key(connection, "reader", ("read",), ["letters"], actor="test")[1]
        writer = create_key(connection, "writer", ("write",), ["letters"], actor="test")[1]
    (hidden,) = [cursor_of(each.collection, each.uri) for each in base.knowledge.documents("handbook", text="a.pdf")]
    with serving(base.knowledge, requires_key=True) as client:
        browser = Browser(client, reader)
        page = browser.open("/documents?state=failed")
        assert (boxes(page), fields_of(page, "/documents/retry")) == ([], [])
        assert browser.send("/documents/retry", {"which": "all"}).status == 403
        browser = Browser(client, writer)
        assert browser.send("/documents/retry", {"item": hidden}).status == 404
        assert browser.send("/documents/retry", {"which": "all", "collection": "handbook"}).status == 404
        assert browser.send("/documents/retry", {"which": "all"}).status == 303
    assert asked(base) == {"letters": []}
    assert {each.asked_by for each in base.knowledge.work_requests()} == {"key writer"}
