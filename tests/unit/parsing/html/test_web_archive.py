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


def test_frames_of_the_page_s_own_site_stand_in_their_places() -> None:
    """As Chromium saves them; those of other sites are counted."""
    head, mark, rest = SAVED_PAGE.partition("------sep\nContent-Type: text/html")
    names = {"own@x": "https://example.org/table", "other@x": "https://ads.example/1"}
    shown = "".join(f'<iframe src=3D"cid:{name}"></iframe>' for name in names)
    frames = "".join(
        f"------sep\nContent-Type: text/html\nContent-ID: <{name}>\nContent-Location: {url}\n\n<p>At {url[8:]}.</p>\n"
        for name, url in names.items()
    )
    document = read(
        head + mark + rest.replace("</body>", f"{shown}</body>").replace("------sep--", frames + "------sep--")
    )
    assert "At example.org/table." in document.markdown
    assert "ads.example" not in document.markdown
    assert document.metadata["left_out"]["frames"] == 1  # type: ignore[index, call-overload]


@pytest.mark.parametrize("content", ["no archive\n", SAVED_PAGE.split("------sep\nContent-Type: text/html")[0]])
def test_without_a_page_it_fails_with_the_reason(content: str) -> None:
    """A reason in plain words, with a remedy."""
    with pytest.raises(ParseError, match="holds no HTML; save the page again"):
        read(content)


def test_workbook_of_several_pages_has_a_section_a_sheet() -> None:
    """Excel saves a workbook as a page that frames the pages of its sheets; the strip of tabs has their names."""
    pages = {
        "book.htm": '<html><frameset><frame src=3D"book_files/sheet001.htm"></frameset></html>',
        "book_files/sheet001.htm": "<table><tr><td>Ship</td><td>Toll</td></tr><tr><td>X</td><td>97</td></tr></table>",
        "book_files/sheet002.htm": "<table><tr><td>Mole</td><td>Depth</td></tr><tr><td>N</td><td>7</td></tr></table>",
        "book_files/tabstrip.htm": '<a href=3D"sheet001.htm">Tolls</a> <a href=3D"sheet002.htm">Depths</a>',
    }
    parts = "".join(
        f"------sep\nContent-Location: file:///C:/{name}\nContent-Transfer-Encoding: quoted-printable\n"
        f"Content-Type: text/html\n\n{html}\n"
        for name, html in pages.items()
    )
    document = read(f'MIME-Version: 1.0\nContent-Type: multipart/related; boundary="----sep"\n\n{parts}------sep--\n')

    assert document.markdown == (
        "## Tolls\n\n| Ship | Toll |\n| --- | --- |\n| X | 97 |\n\n"
        "## Depths\n\n| Mole | Depth |\n| --- | --- |\n| N | 7 |\n"
    )
