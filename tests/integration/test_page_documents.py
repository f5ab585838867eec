"""A document on the page: tags by hand, removal, the original, the export, and pages with the passage marked."""

import re
from collections.abc import Iterator

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from tests.checkout import EXAMPLES
from tests.integration.http_server import Client, serving
from tests.integration.page_forms import Browser, fields_of
from tests.integration.stages import Stages

REPORT = (EXAMPLES / "library" / "reports" / "annual-review-2024.pdf").read_bytes()
POWER = "---\ntags: [gauge]\nowner: Harbour\n---\n# Power\n\nThe batteries of the tide gauge last fourteen months."
HOSTILE = "<script>canary()</script>"
CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook, tags: [shared]}]}
  all: {from: [{collection: handbook, tags: [shared]}]}
"""


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("handbook/power.md", POWER)
    stages.write("handbook/report.pdf", REPORT)
    stages.configure(CONFIGURATION)
    stages.run_all("handbook", "all")
    return stages


@pytest.fixture
def open_server(base: Stages) -> Iterator[Client]:
    with serving(base.knowledge, requires_key=False) as client:
        yield client


def path_of(base: Stages, name: str, collection: str = "handbook") -> str:
    (item,) = base.knowledge.documents(collection, text=name)
    return f"/documents/{item.document_id}"


def found_names(base: Stages) -> set[str]:
    return {hit.uri.rpartition("/")[2] for hit in base.knowledge.search("batteries", min_relevance=0)}


def test_tags_and_metadata_are_given_and_taken_back(base: Stages, open_server: Client) -> None:
    path, browser = path_of(base, "power.md"), Browser(open_server)
    number = int(path.rpartition("/")[2])
    browser.open(path)
    for tag in (HOSTILE, "winter, late"):
        answer = browser.send(f"{path}/tags", {"add": f" {tag} "})
        assert (answer.status, answer.headers["location"]) == (303, f"{path}#about")
    browser.send(f"{path}/tags", {"add": "gauge"})  # it has the tag already
    browser.send(f"{path}/metadata", {"name": HOSTILE, "value": HOSTILE})
    browser.send(f"{path}/metadata", {"name": "owner", "value": "Pilot"})
    found = base.knowledge.show(number)
    assert (found.given_tags, set(found.tags)) == (
        [HOSTILE, "winter, late"],
        {"gauge", "shared", HOSTILE, "winter, late"},
    )
    assert found.given_metadata == {HOSTILE: HOSTILE, "owner": "Pilot"}
    page = browser.open(path)
    assert page.text.count("by hand") == 2
    assert re.search(r"owner by hand\s+Pilot", page.text)
    assert not re.search(r"owner\s+Harbour", page.text)
    taken = [fields["remove"] for fields in fields_of(page, f"{path}/tags") if "remove" in fields]
    assert taken == [HOSTILE, "winter, late"]
    browser.send(f"{path}/tags", {"remove": HOSTILE})
    browser.send(f"{path}/metadata", {"name": "owner", "value": ""})
    found = base.knowledge.show(number)
    assert (found.given_tags, found.given_metadata) == (["winter, late"], {HOSTILE: HOSTILE})
    assert re.search(r"owner\s+Harbour", browser.open(path).text)
    for target, fields in (
        ("tags", {"add": "x" * 101}),
        ("tags", {"add": "a\nb"}),
        ("tags", {}),
        ("metadata", {"name": "tags", "value": "x"}),
        ("metadata", {"name": "", "value": "x"}),
        ("metadata", {"name": "a\0", "value": "x"}),
    ):
        assert browser.send(f"{path}/{target}", fields).status == 400, (target, fields)
    assert base.knowledge.show(number).given_tags == ["winter, late"]
    with base.connection() as connection:
        changes = [each for each in audit_events(connection) if each.action == "document.change"]
    assert len(changes) == 6
    assert {each.actor for each in changes} == {"local caller"}


def test_a_document_is_removed_and_restored(base: Stages, open_server: Client) -> None:
    path, browser = path_of(base, "power.md"), Browser(open_server)
    page = browser.open(path)
    assert re.search(r"Searchable\s*version 1, since", page.text)
    answer = browser.send(f"{path}/remove", fields_of(page, f"{path}/remove")[0])
    assert (answer.status, answer.headers["location"]) == (303, path)
    assert "power.md" not in found_names(base)
    page = browser.open(path)
    assert re.search(r"Searchable\s*not now\s*Removed", page.text)
    assert fields_of(page, f"{path}/remove") == []
    (fields,) = fields_of(page, f"{path}/restore")
    restored = browser.send(f"{path}/restore", fields)
    (work,) = base.knowledge.work_requests()
    assert restored.headers["location"] == f"/work/{work.id}"
    assert [uri.rpartition("/")[2] for uri in work.arguments["documents"]] == ["power.md"]
    base.collection = "handbook"
    base.run()
    assert "power.md" in found_names(base)

    taken = path_of(base, "report.pdf", "all")
    page = browser.open(taken)
    assert "taken from" in page.text
    assert fields_of(page, f"{taken}/remove") == []  # it follows the other one
    assert browser.send(f"{taken}/remove").status == 400


def test_the_original_and_the_export_are_downloaded(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    path = path_of(base, "report.pdf")
    links = browser.open(path).links
    assert {f"{path}/original", f"{path}/original?inline=true", f"{path}/export", f"{path}/pages/1"} <= set(links)
    saved, opened = browser.get(f"{path}/original"), browser.get(f"{path}/original?inline=true", Range="bytes=0-3")
    assert (saved.status, saved.content) == (200, REPORT)
    assert saved.headers["content-disposition"].startswith("attachment")
    assert (opened.status, opened.content) == (206, REPORT[:4])
    assert opened.headers["content-disposition"].startswith("inline")
    for answer in (saved, opened):
        assert "sandbox" in answer.headers["content-security-policy"]
    exported = browser.get(f"{path_of(base, 'power.md')}/export")
    assert "fourteen months" in exported.content.decode()
    (base.root / "handbook" / "report.pdf").unlink()
    for gone in ("original", "pages/1"):
        answer = browser.get(f"{path}/{gone}")
        assert (answer.status, b"No longer there" in answer.content) == (410, True)


def test_a_page_of_a_pdf_shows_the_found_passage_marked(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    path = path_of(base, "report.pdf")
    document = base.knowledge.show(int(path.rpartition("/")[2]))
    passage = next(each for each in document.passages if each.page == 2)
    found = browser.open("/?q=batteries&collection=handbook&type=pdf&all=1")
    shown = [link for link in found.links if re.fullmatch(rf"{path}/pages/\d+\?passage=\d+", link)]
    assert shown
    assert all([held for tag, held in browser.open(link).tags if tag == "rect"] for link in shown)
    target = f"{path}/pages/2?passage={passage.ordinal}"
    assert target in browser.open(f"{path}?view=passages").links
    page = browser.open(target)
    assert re.search(r"page 2 of \d+", page.text)
    (image,) = [held["src"] for tag, held in page.tags if tag == "img" and "pages" in held["src"]]
    picture = browser.get(image)
    assert (picture.status, picture.content[:4]) == (200, b"\x89PNG")
    assert browser.get(image, If_None_Match=picture.headers["etag"]).status == 304
    marks = [held for tag, held in page.tags if tag == "rect"]
    assert marks
    assert all(-5 <= float(value) <= 1_005 for mark in marks for value in mark.values())
    assert f"{path}?passage={passage.ordinal}#passage-{passage.ordinal}" in page.links
    assert {f"{path}/pages/{n}?passage={passage.ordinal}" for n in (1, 3)} <= set(page.links)
    elsewhere = browser.open(f"{path}/pages/1?passage={passage.ordinal}")
    assert "it begins on page 2" in " ".join(elsewhere.text.split())
    assert [tag for tag, _ in elsewhere.tags if tag == "rect"] == []
    plain = path_of(base, "power.md")
    for wrong, status in (
        (f"{path}/pages/99", 400),
        (f"{path}/pages/0", 422),
        (f"{path}/pages/1?passage=99", 400),
        (f"{plain}/pages/1", 400),
    ):
        assert browser.get(wrong).status == status, wrong


def test_a_reader_changes_nothing_and_sees_its_collections_alone(base: Stages) -> None:
    path, hidden = path_of(base, "power.md", "all"), path_of(base, "report.pdf")
    with base.connection() as connection:
        reader = create_key(connection, "reader", ("read",), ["all"], actor="test")[1]
        writer = create_key(connection, "writer", ("write",), ["all"], actor="test")[1]
    changes = {"tags": {"add": "x"}, "metadata": {"name": "a", "value": "b"}, "remove": {}, "restore": {}}
    with serving(base.knowledge, requires_key=True) as client:
        browser = Browser(client, reader)
        page = browser.open(path)
        assert [held["action"] for tag, held in page.tags if tag == "form"] == ["/sign-out", "/language"]
        assert "taken from" not in page.text
        for name, fields in changes.items():
            assert browser.send(f"{path}/{name}", fields).status == 403, name
        browser = Browser(client, writer)
        for name, fields in changes.items():
            assert browser.send(f"{path}/{name}", fields, token="x" * 43).status == 403, name
            assert browser.send(f"{hidden}/{name}", fields).status == 404, name
        for name in ("original", "export", "pages/1", "pages/1.png"):
            assert browser.get(f"{hidden}/{name}").status == 404, name
            assert client.get(f"{path}/{name}", Accept="text/html").status == 303, name  # to the sign-in
        assert browser.send(f"{path}/tags", {"add": "read"}).status == 303


def test_a_document_is_hidden_with_a_reason_listed_as_such_and_shown_again(base: Stages, open_server: Client) -> None:
    path, browser = path_of(base, "power.md"), Browser(open_server)
    browser.open(path)
    assert browser.send(f"{path}/curation", {"boost": "0", "reason": f" {HOSTILE} "}).status == 303
    assert "power.md" not in found_names(base)
    page = browser.open(path)
    assert re.search(r"By local caller, [\d-]+ [\d:]+ UTC: <script>canary\(\)</script>", page.text)
    assert path in browser.open("/documents?state=hidden+or+boosted&collection=handbook").links
    assert HOSTILE in browser.open("/documents?state=hidden+or+boosted").text
    copy = path_of(base, "power.md", "all")
    assert (HOSTILE in browser.open(copy).text, fields_of(browser.open(copy), f"{copy}/curation")) == (True, [])
    undo, change = fields_of(page, f"{path}/curation")
    assert (undo["boost"], "boost" in change) == ("1", False)
    assert browser.send(f"{path}/curation", undo).status == 303
    assert "power.md" in found_names(base)
    for fields, status in (({"boost": "3", "reason": "x"}, 400), ({"boost": "0"}, 400), ({}, 400)):
        assert browser.send(f"{path}/curation", fields).status == status
    assert browser.send(f"{copy}/curation", {"boost": "0", "reason": "x"}).status == 400
    assert browser.send(f"{path}/curation", {"boost": "0", "reason": "x"}, token="x" * 43).status == 403
    with base.connection() as connection:
        reader = create_key(connection, "reader", ("read",), actor="test")[1]
    with serving(base.knowledge, requires_key=True) as client:
        seen = Browser(client, reader)
        assert fields_of(seen.open(path), f"{path}/curation") == []
        assert seen.send(f"{path}/curation", {"boost": "0", "reason": "x"}).status == 403
    assert "power.md" in found_names(base)
