"""Citations lead to the place: an anchor, a page or a second."""

import pytest

from sourcebook.contract.documents import Passage
from sourcebook.model.place import address_of
from sourcebook.server.mcp.citations import cite


def passage(anchor: str | None, page: int | None, start: float | None, end: float | None) -> Passage:
    return Passage(0, "text", ["Tides", "Spring tides"], anchor, page, start, end, 0, 4, 1)


@pytest.mark.parametrize(
    ("place", "uri", "address_of_place"),
    [
        (passage("spring-tides", None, None, None), "https://example.org/a", "https://example.org/a#spring-tides"),
        (passage("spring-tides", 3, None, None), "file:///a.pdf", "file:///a.pdf#page=3"),
        (passage(None, None, 750.2, 854.9), "file:///a.mp3", "file:///a.mp3#t=750,855"),
        (passage(None, None, None, None), "file:///a.md", "file:///a.md"),
        (
            passage("spring-tides", None, None, None),
            "https://example.org/#/a",
            "https://example.org/#/a?id=spring-tides",
        ),
    ],
)
def test_an_address_leads_to_its_place(place: Passage, uri: str, address_of_place: str) -> None:
    assert address_of(uri, place) == address_of_place


def test_a_citation_names_what_a_person_needs() -> None:
    cited = cite(passage(None, None, 750.2, 854.9), title=None, uri="file:///a.mp3", version=2, link=None, metadata={})
    assert cited.model_dump(exclude_none=True) == {
        "title": "file:///a.mp3",
        "heading_path": ["Tides", "Spring tides"],
        "uri": "file:///a.mp3#t=750,855",
        "version": 2,
        "time": "12:30–14:14",
    }


def test_a_page_is_cited_as_it_is_printed() -> None:
    """The link opens the page by its place in the file, and the label is beside it."""
    labels = {"page_labels": {"1": "i", "4": "1"}}
    cited = cite(passage(None, 3, None, None), title="A", uri="file:///a.pdf", version=1, link=None, metadata=labels)
    assert (cited.page, cited.page_label, cited.uri) == (3, "iii", "file:///a.pdf#page=3")
