"""Web pages lose their machinery and keep their text."""

import pytest

from sourcebook.errors import ParseError
from sourcebook.parsing.parse import parse
from sourcebook.parsing.types import ParsedDocument

from .covering import assert_blocks_cover, texts

PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8"><title>Opening &amp; hours</title>
<meta name="description" content="When we are open"><meta name="author" content="Ada"><style>p {color: red}</style>
</head><body><script>alert("x")</script>
<h1>Hours</h1><p>Open <b>daily</b> from nine.<img src="http://127.0.0.1:9/x.png" alt="clock"></p>
<ul><li>Monday<ul><li>morning</li></ul></li><li>Tuesday</li></ul>
<h2>Prices</h2><table><tr><th>who</th><th>price</th></tr><tr><td>adult</td><td>5</td></tr></table></body></html>"""


def parse_page(content: bytes) -> ParsedDocument:
    document = parse(content, name="page.html", media_type="text/html")
    assert_blocks_cover(document)
    return document


def test_reads_text_structure_and_head() -> None:
    """The title is that of <title>; scripts, styles and images are gone."""
    document = parse_page(PAGE.encode())
    assert document.title == "Opening & hours"
    assert document.metadata == {"description": "When we are open", "author": "Ada"}
    assert [(block.kind, block.level) for block in document.blocks] == [
        ("heading", 1),
        ("paragraph", 0),
        ("paragraph", 0),
        ("list", 0),
        ("heading", 2),
        ("table", 0),
    ]
    assert texts(document)[2] == "clock"  # what an image says in words is kept
    assert texts(document)[3].split() == ["-", "Monday", "-", "morning", "-", "Tuesday"]
    assert texts(document)[5] == "| who | price |\n| --- | --- |\n| adult | 5 |"
    for absent in ("alert", "color", "127.0.0.1", "<!--"):
        assert absent not in document.markdown


def test_declared_encodings_are_honoured() -> None:
    """An old page in Latin-1 reads as written."""
    page = '<html><head><meta charset="iso-8859-1"><title>Grüße</title></head><body><p>Schöne Grüße</p></body></html>'
    document = parse_page(page.encode("latin-1"))
    assert (document.title, texts(document)) == ("Grüße", ["Schöne Grüße"])


def test_bottomless_nesting_is_refused() -> None:
    """docling would take minutes over it."""
    with pytest.raises(ParseError, match="nested more than 400 deep"):
        parse_page(b"<div>" * 5_000 + b"x" + b"</div>" * 5_000)
