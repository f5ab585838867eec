"""A page saved as one file reads like the page."""

import pytest

from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover
from tests.unit.parsing.drawn_files import SAVED_PAGE


def read(content: str) -> ParsedDocument:
    encoded = content.encode()
    document = parse(encoded, name="a.mhtml", media_type=detect_media_type("a.mhtml", encoded[:4096]))
    assert_blocks_cover(document)
    return document


@pytest.mark.parametrize("content", [SAVED_PAGE, SAVED_PAGE.replace("\n", "\r\n")], ids=["LF", "CRLF"])
def test_the_page_is_read_and_nothing_else(content: str) -> None:
    """Links are absolute with the page's address; styles and the bytes of pictures are no text."""
    document = read(content)
    assert document.markdown == (
        "# Gates\n\nNever open the [upper gates](https://example.org/locks/upper) before the paddles.\n"
    )
    assert document.title == "Gates"
    assert document.blocks[0].anchor == "gates"
    assert document.metadata["saved_from"] == "https://example.org/locks/gates"


def test_the_start_names_the_page() -> None:
    """The part that the archive calls its start is read; other pages are frames, and counted."""
    head, mark, rest = SAVED_PAGE.partition("------sep\nContent-Type: text/html")
    frame = "------sep\nContent-Type: text/html\n\n<p>An advertisement.</p>\n"
    head = head.replace('type="text/html";', 'type="text/html"; start="<main@x>";')
    document = read(head + frame + mark.replace("\n", "\nContent-ID: <main@x>\n", 1) + rest)
    assert document.markdown.startswith("# Gates")
    assert document.metadata["left_out"]["frames"] == 1  # type: ignore[index, call-overload]


@pytest.mark.parametrize("content", ["no archive\n", SAVED_PAGE.split("------sep\nContent-Type: text/html")[0]])
def test_without_a_page_it_fails_with_the_reason(content: str) -> None:
    """A reason in plain words, with a remedy."""
    with pytest.raises(ParseError, match="holds no HTML; save the page again"):
        read(content)
