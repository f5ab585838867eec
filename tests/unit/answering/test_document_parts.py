"""The document under work: every letter of it stands in one source, and pages are those that were asked for."""

from typing import Any

import pytest

from sourcebook.answering.document_parts import document_of, document_sources
from sourcebook.answering.sources import Sources
from sourcebook.contract.documents import Document, Item, Passage
from sourcebook.errors import AmbiguousDocumentError, QueryError, UnknownDocumentError

PAGES = ["Title. ", "Second page begins here. ", "It goes on. ", "Third page. ", "Fourth page."]
NUMBERS = [1, 2, 2, 3, 4]


def passage(ordinal: int, start: int, text: str, page: int | None) -> Passage:
    return Passage(ordinal, text, ["Report"], None, page, None, None, start, start + len(text.rstrip()), 5)


def document(text: str, passages: tuple[Passage, ...], collection: str = "inbox", state: str = "ready") -> Document:
    uri = "file:///inbox/report.pdf"
    item = Item(7, collection, uri, "Report", "file", "application/pdf", "en", 1, len(passages), state, None)
    return Document(item, text, {}, [], passages)


def paged() -> Document:
    starts = [sum(map(len, PAGES[:number])) for number in range(len(PAGES))]
    rows = zip(range(5), starts, PAGES, NUMBERS, strict=True)
    return document("".join(PAGES), tuple(passage(*row) for row in rows))


def test_all_of_the_text_stands_once_in_the_sources() -> None:
    text = "Front matter\n\nFirst passage.\n\nSecond passage.\n\nA tail without a passage"
    second, first = text.index("Second"), text.index("First")
    held = document(text, (passage(1, second, "Second passage.", None), passage(0, first, "First passage.", None)))
    parts = document_sources(held, None, Sources())
    assert "".join(each.text for each in parts) == text
    assert [each.number for each in parts] == [1, 2, 3]
    assert [each.place(0, 5) for each in parts] == [(0, 5), (first, first + 5), (second, second + 5)]


def test_a_document_without_passages_is_parted_by_its_length() -> None:
    parts = document_sources(document("word " * 2_000, ()), None, Sources())
    assert "".join(each.text for each in parts) == "word " * 2_000
    assert len(parts) == 3


@pytest.mark.parametrize(
    ("pages", "numbers"),
    [("2", [1, 2, 2]), ("3-4", [2, 3, 4]), ("1,4", [1, 3, 4]), ("3-9", [2, 3, 4]), ("1", [1])],
)
def test_pages_come_with_the_passage_that_may_run_into_them(pages: str, numbers: list[int]) -> None:
    assert [each.page for each in document_sources(paged(), pages, Sources())] == numbers


def test_pages_that_are_not_there() -> None:
    with pytest.raises(QueryError, match="text up to page 4: 5-9 is behind it"):
        document_sources(paged(), "5-9", Sources())
    with pytest.raises(QueryError, match="has no pages: leave document_pages out"):
        document_sources(document("Text.", (passage(0, 0, "Text.", None),)), "1", Sources())
    with pytest.raises(QueryError, match="has no text"):
        document_sources(document(" \n", ()), None, Sources())


def test_a_document_is_looked_for_in_the_asked_collections_alone() -> None:
    held: dict[str, Any] = {"inbox": paged(), "plans": document("Plan.", (), "plans", "removed")}

    def show(name: str | int, collection: str) -> Document:
        if collection not in held:
            raise UnknownDocumentError(f"{collection} has none")
        found: Document = held[collection]
        return found

    assert document_of(show, "report.pdf", ["inbox", "nowhere", "plans"]).item.collection == "inbox"
    for names in (["nowhere"], ["plans"], []):
        with pytest.raises(UnknownDocumentError, match=r"no document report\.pdf in the collections that are asked"):
            document_of(show, "report.pdf", names)
    held["other"] = document("Text.", (), "other")
    with pytest.raises(AmbiguousDocumentError, match="inbox, other"):
        document_of(show, "report.pdf", ["inbox", "other"])


def test_a_passage_of_the_document_is_no_second_source() -> None:
    sources = Sources()
    parts = document_sources(paged(), None, sources)
    again = document_sources(paged(), None, sources)
    assert [each.number for each in again] == [each.number for each in parts]
    assert len(sources) == len(parts)
