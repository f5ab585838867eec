"""The list of documents, looked after: ticked ones are removed, restored and tagged, and that is undone."""

import re
from collections.abc import Iterator

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from sourcebook.model.cursors import cursor_of
from tests.integration.http_server import Client, serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser, fields_of
from tests.integration.stages import Stages

HOSTILE = "<script>canary()</script>"
CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook, tags: [shared]}]}
  letters: {files: [{root: ./docs/letters}]}
  all: {from: [{collection: handbook, tags: [shared]}]}
"""


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Two collections with documents, one of them also in a third."""
    for name in ("a", "b", "c"):
        stages.write(f"handbook/{name}.md", f"# Part {name}\n\nMarmalade of {name}.")
    stages.write("letters/z.md", f"# {HOSTILE}\n\nMarmalade in a letter.")
    stages.configure(CONFIGURATION)
    stages.run_all("handbook", "letters", "all")
    return stages


@pytest.fixture
def open_server(base: Stages) -> Iterator[Client]:
    with serving(base.knowledge, requires_key=False) as client:
        yield client


def boxes(page: Page) -> list[str]:
    return [held["value"] for tag, held in page.tags if tag == "input" and held.get("type") == "checkbox"]


def found_names(base: Stages) -> set[str]:
    return {hit.uri.rpartition("/")[2] for hit in base.knowledge.search("marmalade", min_relevance=0)}


def test_several_are_removed_and_the_removal_is_undone(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    page = browser.open("/documents?collection=handbook")
    (fields,) = fields_of(page, "/documents/change")
    answer = browser.send("/documents/change", {**fields, "act": "remove", "item": boxes(page)[:2]})
    assert answer.status == 303
    assert found_names(base) == {"c.md", "z.md"}
    page = browser.open(answer.headers["location"])
    assert re.search(r"2 documents removed\.", page.text)
    undo = next(each for each in fields_of(page, "/documents/change") if "id" in each)
    ids = [held["value"] for tag, held in page.tags if tag == "input" and held.get("name") == "id"]
    assert undo["collection"] == "handbook"
    assert len(boxes(page)) == 1
    sent = {**undo, "id": ids, "act": "restore"}
    first, again = browser.send("/documents/change", sent), browser.send("/documents/change", sent)
    assert first.headers["location"] == again.headers["location"]
    (work,) = base.knowledge.work_requests()
    assert sorted(uri.rpartition("/")[2] for uri in work.arguments["documents"]) == ["a.md", "b.md"]
    assert f"/work/{work.id}" in browser.open(first.headers["location"]).links
    base.run_all("handbook", "all")
    assert found_names(base) == {"a.md", "b.md", "c.md", "z.md"}
    with base.connection() as connection:
        actions = [each.action for each in audit_events(connection) if each.actor == "local caller"]
    assert (actions.count("document.remove"), actions.count("document.restore")) >= (2, 2)


def test_removed_ones_are_listed_and_restored(base: Stages, open_server: Client) -> None:
    for item in base.knowledge.documents("handbook"):
        base.knowledge.remove_document(item.document_id or 0)
    browser = Browser(open_server)
    page = browser.open("/documents?state=removed&collection=handbook")
    assert len(boxes(page)) == 3
    answer = browser.send("/documents/change", {"act": "restore", "item": boxes(page), "state": "removed"})
    assert answer.status == 303
    base.run_all("handbook", "all")
    assert found_names(base) == {"a.md", "b.md", "c.md", "z.md"}


def test_tags_are_given_to_several_and_lead_to_those_that_have_them(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    page = browser.open("/documents")
    places = [cursor_of(each.collection, each.uri) for each in base.knowledge.documents(["handbook", "letters"])]
    assert sorted(boxes(page)) == sorted(places)  # those of `all` follow the handbook
    answer = browser.send("/documents/change", {"act": "tag", "given": f" {HOSTILE} ", "item": places[1:]})
    assert answer.status == 303
    page = browser.open(answer.headers["location"])
    listed = next(link for link in page.links if "tag=%3Cscript" in link)
    assert re.search(r"3 documents", browser.open(listed).text)
    assert browser.send("/documents/change", {"act": "tag", "given": "x" * 101, "item": places}).status == 400
    assert browser.send("/documents/change", {"act": "untag", "given": HOSTILE, "item": places}).status == 303
    assert base.knowledge.documents(tags=[HOSTILE]) == []


def test_the_list_is_sorted_filtered_and_read_page_by_page(base: Stages, open_server: Client) -> None:
    for number in range(60):
        base.write(f"letters/{number:03}.md", f"# Letter {number:03}\n\nNumber {number}.")
    base.run_all("letters")
    browser = Browser(open_server)
    page = browser.open("/documents?collection=letters&sort=-created")
    assert re.search(r"61 documents, 50 on this page", page.text)
    assert "Letter" in page.text.partition("50 on this page")[2][:400]
    (further,) = [link for link in page.links if "cursor=" in link]
    page = browser.open(further)
    assert (len(boxes(page)), "z.md" in page.text) == (11, True)
    titles = browser.open("/documents?collection=handbook&sort=title").text
    assert titles.index("Part a") < titles.index("Part b") < titles.index("Part c")
    for wrong in ("sort=nothing", "state=nothing", "kind=nothing"):
        assert browser.get(f"/documents?{wrong}").status == 400
    assert browser.get("/documents?done=remove&id=99999").status == 200


def test_those_that_cannot_be_changed_are_named_and_the_others_changed(base: Stages, open_server: Client) -> None:
    (taken,) = base.knowledge.documents("all", text="a.md")
    (own,) = base.knowledge.documents("letters")
    browser = Browser(open_server)
    browser.open("/documents")
    items = [cursor_of(each.collection, each.uri) for each in (taken, own)]
    answer = browser.send("/documents/change", {"act": "remove", "item": [*items, cursor_of("letters", "file:///no")]})
    page = Page(answer.content)
    assert (answer.status, page.acting()) == (409, [])
    assert re.search(r"1 document removed", page.text)
    assert re.search(r"2 were not changed", page.text)
    assert "taken from handbook" not in page.text
    assert "z.md" not in found_names(base)


def test_nothing_ticked_and_other_texts_are_refused(base: Stages, open_server: Client) -> None:
    (own,) = base.knowledge.documents("letters")
    box = cursor_of(own.collection, own.uri)
    browser = Browser(open_server)
    browser.open("/documents")
    for fields, status in (
        ({"act": "remove"}, 400),
        ({"act": "purge", "item": box}, 400),
        ({"act": "remove", "item": "nonsense"}, 400),
        ({"act": "remove", "id": "one"}, 400),
        ({"act": "remove", "id": "99999"}, 404),
        ({"act": "remove", "item": cursor_of("nothing", "file:///a")}, 404),
    ):
        assert browser.send("/documents/change", fields).status == status, fields
    assert browser.send("/documents/change", {"act": "remove", "item": box}, token="x" * 40).status == 403
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert browser.send("/documents/change", {"act": "remove", "item": box}, headers=elsewhere).status == 403
    assert "z.md" in found_names(base)


def test_only_a_key_that_may_write_changes_and_only_what_it_sees(base: Stages) -> None:
    with base.connection() as connection:
        keys = {
            scope: create_key(connection, scope, (scope,), ["letters"], actor="test")[1] for scope in ("read", "write")
        }
    (hidden,) = base.knowledge.documents("handbook", text="a.md")
    (own,) = base.knowledge.documents("letters")
    with serving(base.knowledge, requires_key=True) as client:
        reader, writer = Browser(client, keys["read"]), Browser(client, keys["write"])
        page = reader.open("/documents")
        assert (boxes(page), fields_of(page, "/documents/change")) == ([], [])
        page = reader.open(f"/documents?done=remove&id={own.document_id}")
        assert fields_of(page, "/documents/change") == []
        box = cursor_of(own.collection, own.uri)
        assert reader.send("/documents/change", {"act": "remove", "item": box}).status == 403
        for named in ({"item": cursor_of(hidden.collection, hidden.uri)}, {"id": str(hidden.document_id)}):
            assert writer.send("/documents/change", {"act": "remove", **named}).status == 404
        assert found_names(base) == {"a.md", "b.md", "c.md", "z.md"}
        assert writer.send("/documents/change", {"act": "remove", "item": box}).status == 303
    assert found_names(base) == {"a.md", "b.md", "c.md"}


def test_all_that_match_are_changed_once_their_number_is_confirmed_and_come_back(
    base: Stages, open_server: Client
) -> None:
    """Also those that no page has shown; others that match by then are asked about anew."""
    for number in range(55):
        base.write(f"letters/{number:03}.md", f"# Letter {number:03}\n\nMarmalade, number {number}.")
    base.run_all("letters")
    base.knowledge.remove_document(base.knowledge.documents("letters")[0].document_id or 0)  # it stays removed
    browser = Browser(open_server)
    page = browser.open("/documents?collection=letters")
    (fields,) = fields_of(page, "/documents/change")
    asked = browser.send("/documents/all", {**fields, "act": "remove"})
    page = Page(asked.content)
    assert (asked.status, page.acting()) == (200, [])
    assert "Remove 55 documents?" in page.text
    assert "All that match: collection: letters" in " ".join(page.text.split())
    assert "and 35 more." in page.text
    (sure,) = fields_of(page, "/documents/all")
    base.knowledge.remove_document(base.knowledge.documents("letters")[0].document_id or 0)
    late = browser.send("/documents/all", {**sure, "act": "remove"})
    assert (late.status, "Remove 54 documents?" in Page(late.content).text) == (409, True)
    assert base.knowledge.count_documents("letters") == 54
    (sure,) = fields_of(Page(late.content), "/documents/all")
    done = browser.send("/documents/all", {**sure, "act": "remove"})
    assert (done.status, base.knowledge.count_documents()) == (303, 6)
    page = browser.open(done.headers["location"])
    assert "54 documents removed." in page.text
    (undo,) = fields_of(page, "/documents/all")
    assert browser.send("/documents/all", {**undo, "act": "restore"}).status == 303
    base.run_all("letters")
    assert base.knowledge.count_documents("letters") == 54
    (fields,) = fields_of(browser.open("/documents"), "/documents/change")
    page = Page(browser.send("/documents/all", {**fields, "act": "tag", "given": HOSTILE}).content)
    assert "Give the tag to 57 documents?" in page.text  # without those of `all`, which follow the handbook
    (sure,) = fields_of(page, "/documents/all")
    assert browser.send("/documents/all", {**sure, "act": "tag"}).status == 303
    assert base.knowledge.count_documents(["letters", "handbook"], tags=[HOSTILE]) == 57
    with base.connection() as connection:
        assert sum(each.action == "document.remove" for each in audit_events(connection, limit=1_000)) >= 54
    for wrong in ({"act": "purge"}, {"act": "remove", "between": "yesterday now"}, {"act": "remove", "state": "no"}):
        assert browser.send("/documents/all", wrong).status == 400
    assert browser.send("/documents/all", {"act": "remove", "confirmed": "57"}, token="x" * 40).status == 403


def test_all_means_all_that_the_key_sees_and_may_change(base: Stages) -> None:
    with base.connection() as connection:
        reader, writer = (
            create_key(connection, scope, (scope,), ["letters"], actor="test")[1] for scope in ("read", "write")
        )
        eve = create_key(connection, "eve", principals=["user:eve"], actor="test")[1]
    with serving(base.knowledge, requires_key=True) as client:
        for key in (reader, eve):
            assert Browser(client, key).send("/documents/all", {"act": "remove", "confirmed": "4"}).status == 403
        own = Browser(client, writer)
        assert own.send("/documents/all", {"act": "remove", "confirmed": "4"}).status == 409
        assert own.send("/documents/all", {"act": "remove", "collection": "handbook", "confirmed": "3"}).status == 404
        assert found_names(base) == {"a.md", "b.md", "c.md", "z.md"}
        assert own.send("/documents/all", {"act": "remove", "confirmed": "1"}).status == 303
    assert found_names(base) == {"a.md", "b.md", "c.md"}


def test_those_of_all_that_take_no_further_tag_are_named_and_counted(base: Stages, open_server: Client) -> None:
    (full,) = base.knowledge.documents("letters")
    base.knowledge.change_document(full.document_id or 0, tags=[f"t{number}" for number in range(50)])
    browser = Browser(open_server)
    browser.open("/documents")
    answer = browser.send("/documents/all", {"act": "tag", "given": "more", "confirmed": "4"})
    page = Page(answer.content)
    assert (answer.status, page.acting()) == (409, [])
    assert "3 documents given the tag." in page.text
    assert re.search(r"1 was not changed:\s+letters/z\.md: it is part of another file, has as many tags", page.text)
    assert browser.send("/documents/all", {"act": "untag", "given": "more", "confirmed": "4"}).status in {303, 409}
    assert base.knowledge.documents(["letters", "handbook"], tags=["more"]) == []
