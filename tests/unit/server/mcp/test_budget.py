"""Answers are cut to their budget, and say how to go on."""

from typing import Any

import pytest

from sourcebook.context.token_bound import token_bound
from sourcebook.contract.documents import Document, Item, Passage
from sourcebook.contract.search_results import SearchResult, SearchResults
from sourcebook.errors import QueryError
from sourcebook.server.mcp.arguments import FetchArguments, SearchArguments
from sourcebook.server.mcp.budget import as_json, beginning, plain, tokens_of
from sourcebook.server.mcp.tools.fetch import part_of
from sourcebook.server.mcp.tools.search import fitted

LINE = "The keeper greases the seal of the housing in spring.\n"


def found_passage(document: int, text: str, **more: Any) -> SearchResult:
    place: dict[str, Any] = {
        "document_id": document, "collection": "handbook", "uri": f"file:///{document}.md", "title": "Seals",
        "heading_path": ("Seals",), "anchor": "seals", "page": None, "start_seconds": None, "end_seconds": None,
        "ordinal": 0, "text": text, "score": 1.0, "vector_rank": 1, "keyword_rank": None, "version": 1,
    }  # fmt: skip
    return SearchResult(**place | more)


def test_a_beginning_fits_and_ends_with_a_line() -> None:
    text = LINE * 100
    cut = beginning(text, 200)
    assert text.startswith(cut)
    assert cut.endswith("\n")
    assert 150 <= tokens_of(cut) <= 200
    assert beginning(text, 10_000) == text
    assert beginning(text, 0) == ""
    assert tokens_of(beginning("潮" * 5_000, 300)) <= 300


@pytest.mark.parametrize("budget", [500, 1_000, 4_000, 20_000])
@pytest.mark.parametrize("lines", [1, 20, 400])
def test_results_fit_and_none_is_lost(budget: int, lines: int) -> None:
    found = SearchResults(tuple(found_passage(number, LINE * lines) for number in range(60)), 1.0, {})
    asked = SearchArguments.of(query="seal", limit=60, offset=7, max_tokens=budget)
    answer = fitted(found, asked)
    assert token_bound(as_json(plain(answer))) <= budget
    assert [hit.document for hit in answer.results] == list(range(len(answer.results)))
    assert answer.results
    if len(answer.results) < 60:
        assert answer.next_offset == 7 + len(answer.results)
        assert f"offset={answer.next_offset}" in (answer.how_to_go_on or "")
    *whole, last = answer.results
    assert all(hit.text == LINE * lines for hit in whole)
    assert (last.text == LINE * lines) == (last.text_goes_on is None)


def test_what_is_long_beside_the_text_is_left_out_and_said() -> None:
    hit = found_passage(
        1, LINE, metadata={"authors": ["A. Keeper"] * 500}, title="Seals " * 900, heading_path=("Housing " * 90,) * 50
    )
    facets = {"tag": {f"tag {number}": 1 for number in range(100)}, "kind": {"file": 1}}
    answer = fitted(SearchResults((hit,), 1.0, {}, facets=facets), SearchArguments.of(query="seal", max_tokens=2_000))
    assert token_bound(as_json(plain(answer))) <= 2_000
    assert answer.results[0].metadata is None
    assert answer.facets is not None
    assert 0 < len(answer.facets["tag"]) < 100
    assert "metadata of document 1" in (answer.how_to_go_on or "")
    assert "facets" in (answer.how_to_go_on or "")


def test_a_result_too_long_for_any_part_is_not_asked_for_forever() -> None:
    found = SearchResults((found_passage(1, LINE, uri="https://example.org/" + "x" * 8_000),), 1.0, {})
    answer = fitted(found, SearchArguments.of(query="seal", max_tokens=500))
    assert (answer.results, answer.next_offset) == ([], None)
    assert "longer than max_tokens" in (answer.how_to_go_on or "")


def document(text: str, starts: list[int]) -> Document:
    item = Item(
        1, "handbook", "file:///tide.pdf", "Tides", "file", "application/pdf", "en", 3, len(starts), "ready", None
    )
    ends = [*starts[1:], len(text)]
    passages = tuple(
        Passage(number, text[start:end], ["Part", str(number)], None, number + 1, None, None, start, end, 10)
        for number, (start, end) in enumerate(zip(starts, ends, strict=True))
    )
    return Document(item, text, {}, [], passages)


def test_the_parts_of_a_document_are_its_text() -> None:
    text = LINE * 300
    long = document(text, [0, 5_400, 10_800])
    read, start = "", 0
    while True:
        part = part_of(long, FetchArguments(document=1, start=start, max_tokens=1_000))
        assert token_bound(as_json(plain(part))) <= 1_000
        read += part.text
        if part.next_start is None:
            break
        assert f"start={part.next_start}" in (part.how_to_go_on or "")
        start = part.next_start
    assert read == text
    within = part_of(long, FetchArguments(document=1, first_passage=1, last_passage=1, max_tokens=1_000))
    assert within.start == 5_400
    assert f"start={within.next_start} and end=10800" in (within.how_to_go_on or "")
    assert within.citation.uri == "file:///tide.pdf#page=2"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"start": 99}, "start is 99; it must be below 54"),
        ({"start": 9, "end": 9}, "start is 9; it must be below 9"),
        ({"first_passage": 2}, "first_passage is 2; it must be 0 or less"),
    ],
)
def test_a_range_that_is_none_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(QueryError, match=said):
        part_of(document(LINE, [0]), FetchArguments(document=1, **asked))
