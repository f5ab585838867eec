"""Facts of documents: times, sizes, titles by hand, orders with pages and totals, and what is known of an upload."""

from pathlib import Path
from typing import get_args

import pytest

from sourcebook.admin.items import count_items, list_items
from sourcebook.contract.documents import Item
from sourcebook.contract.listing import DocumentsRequest, ItemOrder
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.indexing.damage import find_every_damage
from sourcebook.model.selection import Selection
from sourcebook.operations.documents import title_file
from tests.integration.stages import Stages

UPLOADED = b"# Berths\n\nThe quay has nine berths.\n"


@pytest.fixture
def base(stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stages:
    monkeypatch.setenv("SOURCEBOOK_UPLOADS", str(tmp_path / "uploads"))
    stages.write("tides.md", "# Tides\n\nThe gauge stands in the harbour.\n\n## Ebb\n\nThe ebb begins at noon.\n")
    stages.write("winds.md", "# Änderungen\n\nThe mast stands on the hill.\n" + "The wind turns. " * 200)
    stages.write("picture.psd", b"8BPS\0\1")
    stages.configure("collections: {handbook: {description: Of the harbour, files: [{root: ./docs, tags: [sea]}]}}")
    stages.run()
    return stages


def paged(base: Stages, sort: ItemOrder, size: int) -> list[Item]:
    """Return a list page by page."""
    found: list[Item] = []
    while page := base.knowledge.documents(
        sort=sort, limit=size, after=(found[-1].collection, found[-1].uri) if found else None
    ):
        found += page
    return found


def test_a_document_says_when_it_came_and_how_large_it_is(base: Stages) -> None:
    items = {Path(item.uri).name: item for item in base.knowledge.documents()}
    tides, winds, picture = items["tides.md"], items["winds.md"], items["picture.psd"]
    assert tides.bytes == (base.root / "tides.md").stat().st_size
    assert (tides.tags, tides.state) == (("sea",), "ready")
    assert tides.created_at is not None
    assert tides.indexed_at is not None
    assert tides.created_at <= tides.indexed_at
    shown = base.knowledge.show(tides.document_id or 0)
    assert shown.item == tides
    assert (tides.chunks, tides.tokens) == (len(shown.passages), sum(each.token_count for each in shown.passages))
    assert winds.tokens > tides.tokens > 0
    assert (picture.bytes, picture.tokens, picture.created_at) == (6, 0, None)
    (hit, *_) = base.search("gauge harbour", mode="keyword")
    assert (hit.created_at, hit.indexed_at, hit.total_chunks) == (tides.created_at, tides.indexed_at, tides.chunks)
    assert hit.passage_id in {each.passage_id for each in shown.passages}
    assert hit.passage_id.startswith(f"{tides.document_id}-")


def test_a_passage_keeps_its_name_as_long_as_it_stays(base: Stages) -> None:
    rules, fees, news = (f"## {name}\n\n" + f"No {name} in the fairway. " * 40 for name in ("rules", "fees", "news"))
    base.write("port.md", f"# Port\n\n{rules}\n\n{fees}\n")
    base.run()
    before = {each.passage_id: each for each in base.knowledge.show(base.uri("port.md")).passages}
    base.write("port.md", f"# Port\n\n{news}\n\n{rules}\n\n{fees}\n")
    base.run()
    after = {each.passage_id: each for each in base.knowledge.show(base.uri("port.md")).passages}
    assert len(before) >= 2
    (last,) = [each for each in before.values() if each.heading_path[-1:] == ["fees"]][-1:]
    assert after[last.passage_id].text == last.text
    assert after[last.passage_id].ordinal > last.ordinal


def test_every_order_pages_without_a_repetition_and_has_a_total(base: Stages) -> None:
    knowledge = base.knowledge
    for sort in get_args(ItemOrder):
        whole = knowledge.documents(sort=sort)
        assert {item.uri for item in whole} == {item.uri for item in knowledge.documents()}
        assert paged(base, sort, 1) == paged(base, sort, 2) == whole
    assert [Path(item.uri).name for item in knowledge.documents(sort="-size")] == [
        "winds.md",
        "tides.md",
        "picture.psd",
    ]
    assert Path(knowledge.documents(sort="-created")[-1].uri).name == "picture.psd"
    assert knowledge.count_documents() == 3
    assert knowledge.count_documents("handbook", states=["skipped"]) == 1
    with base.connection() as connection:
        for request in (
            DocumentsRequest(failed=True),
            DocumentsRequest(processing=True),
            DocumentsRequest(text="tide", tags=("sea",)),
            DocumentsRequest(kinds=("source",)),
        ):
            assert count_items(connection, request) == len(list_items(connection, request)), request
    with pytest.raises(QueryError, match="begin with the first page"):
        knowledge.documents(sort="title", after=("handbook", "file:///gone.md"))
    knowledge.upload("handbook", "berths.md", UPLOADED)  # a document that is announced
    knowledge.remove_document(base.uri("tides.md"))
    for sort in get_args(ItemOrder):
        whole = knowledge.documents(sort=sort)
        assert len(whole) == 3
        assert paged(base, sort, 1) == paged(base, sort, 2) == whole


def test_the_items_that_a_page_can_have_are_those_that_it_shows(base: Stages) -> None:
    """The statement that finds them, so that these alone are read, leaves out what no list shows."""
    base.write("gone.md", "# Gone\n\nThe quay is gone.\n")
    base.write("binding.psd", b"8BPS\0\1\2")
    base.run()
    base.knowledge.upload("handbook", "berths.md", UPLOADED)
    base.knowledge.remove_document(base.uri("gone.md"))
    base.knowledge.remove_document(base.uri("binding.psd"))
    shown = {item.uri for item in base.knowledge.documents()}
    assert len(shown) == 4
    scope = {"collections": ["handbook"], "limit": 9, **dict.fromkeys(("after_place", "after_collection", "after_uri"))}
    for sort in ("title", "-title", "size", "-size"):
        with base.connection() as connection:
            found = connection.execute(queries["items_by_title_or_size"], {**scope, "sort": sort}).fetchall()
        assert [uri for (uri,) in found] == [item.uri for item in base.knowledge.documents(sort=sort)], sort


def test_a_title_by_hand_is_shown_at_once_and_found_after_the_next_ingest(base: Stages) -> None:
    uri = base.uri("tides.md")
    changed = base.knowledge.change_document(uri, title="  Water levels ")
    assert (changed.item.title, changed.given_title) == ("Water levels", "Water levels")
    (hit, *_) = base.search("gauge", mode="keyword")
    assert hit.title == "Water levels"
    base.run()
    assert uri in {each.uri for each in base.search("levels", mode="keyword")}
    base.write("tides.md", "# Other\n\nThe gauge was moved to the pier.\n")
    base.run()
    shown = base.knowledge.show(uri)
    assert (shown.item.title, "pier" in shown.text) == ("Water levels", True)
    with base.connection() as connection:
        assert find_every_damage(connection, base.collection) == []
    assert base.knowledge.change_document(uri, title="").item.title == "Other"
    with pytest.raises(QueryError, match="on one line"):
        base.knowledge.change_document(uri, title="two\nlines")
    base.run()
    assert not base.pending().work
    base.assert_sound()


def test_an_upload_is_a_pending_document_until_it_is_read(base: Stages) -> None:
    knowledge = base.knowledge
    sent = knowledge.upload("handbook", "berths.md", UPLOADED, title="The berths", tags=["quay"])
    program = knowledge.upload("handbook", "wrong.exe", b"MZ\x90\0" + bytes(200))
    gone = knowledge.upload("handbook", "gone.md", b"# Gone\n")
    items = {item.uri: item for item in knowledge.documents(states=["pending"])}
    assert {uri: item.document_id for uri, item in items.items()} == {
        each.uri: each.document_id for each in (sent, program, gone)
    }
    assert (items[sent.uri].title, items[sent.uri].tags) == ("The berths", ("quay",))
    assert [each.document_id for each in knowledge.uploads("handbook")] == [
        each.document_id for each in (sent, gone, program)
    ]
    # An ingest of other sources alone leaves them as they are.
    base.documents(Selection())
    assert knowledge.show(sent.document_id or 0).item.state == "pending"
    knowledge.remove_upload("handbook", "gone.md")
    base.run()
    ready = knowledge.show(sent.document_id or 0)
    assert (ready.item.state, ready.item.title, ready.item.uri) == ("ready", "The berths", sent.uri)
    refused = knowledge.show(program.document_id or 0).item
    assert (refused.state, bool(refused.error), refused.removed_at) == ("skipped", True, None)
    assert program.uri in {item.uri for item in knowledge.documents(failed=True)}
    assert knowledge.show(gone.document_id or 0).item.state == "removed"
    assert not base.pending().work
    base.assert_sound()


def test_a_file_has_a_title_before_it_is_read(base: Stages) -> None:
    file = base.write("scan-0042.md", "# scan\n\nThe lease of the harbour office.\n")
    number = title_file(base.knowledge, "handbook", str(file), "Lease")
    assert base.knowledge.show(number or 0).item.state == "pending"
    base.run()
    assert base.knowledge.show(file).item.title == "Lease"
    assert base.knowledge.show(file).item.document_id == number
    with pytest.raises(QueryError, match="for one file"):
        title_file(base.knowledge, "handbook", str(base.root), "Folder")
    with pytest.raises(QueryError, match="no source of the collection"):
        title_file(base.knowledge, "handbook", __file__, "Other")


def test_a_collection_says_what_is_in_it(base: Stages) -> None:
    (found,) = base.knowledge.collections(text="HARBOUR")
    assert (found.description, found.created_at is not None) == ("Of the harbour", True)
    assert base.knowledge.collections(text="nothing") == []
    assert base.knowledge.collections(limit=1, offset=1) == []
