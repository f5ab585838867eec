"""Web pages lose their machinery and keep their text."""

import time
from typing import get_args

import pytest

from sourcebook.config.html_part import HtmlPart
from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts

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
        ("list", 0),
        ("heading", 2),
        ("table", 0),
    ]
    assert texts(document)[1] == "Open **daily** from nine. clock"  # an image leaves its alternative text
    assert texts(document)[2].split() == ["-", "Monday", "-", "morning", "-", "Tuesday"]
    assert texts(document)[4] == "| who | price |\n| --- | --- |\n| adult | 5 |"
    for absent in ("alert", "color", "127.0.0.1", "<!--"):
        assert absent not in document.markdown


def test_reads_what_the_page_says_of_itself() -> None:
    """Dates, keywords and the canonical address; its language counts where the text is too short to tell."""
    head = """<html lang="de-AT"><head><title>T</title><meta name="keywords" content="bread, rolls ,">
    <meta property="article:published_time" content="2024-05-06T10:00:00Z"><meta name="last-modified"
    content="2024-06-01"><link rel="canonical" href="https://example.org/bread"></head>"""
    document = parse_page(f"{head}<body><p>Brot</p></body></html>".encode())
    assert document.language == "de"
    assert document.metadata == {
        "published": "2024-05-06T10:00:00+00:00",
        "modified": "2024-06-01",
        "keywords": ["bread", "rolls"],
        "canonical": "https://example.org/bread",
    }
    english = "<p>This page is written in plain English, whatever its root element may claim about it.</p>"
    assert parse_page(f"{head}<body>{english}</body></html>".encode()).language == "en"


def test_code_links_and_special_characters_read_as_written() -> None:
    """Code is fenced, an address keeps its parentheses, and text is not escaped beyond reading."""
    page = "<pre><code>def f():\n    return 1</code></pre><p>a*b &lt; c_d <a href='https://e.org/x_(y)'>x</a></p>"
    document = parse_page(page.encode())
    assert texts(document) == ["```\ndef f():\n    return 1\n```", "a*b < c_d [x](https://e.org/x_(y))"]
    assert [block.kind for block in document.blocks] == ["code", "paragraph"]


def test_tables_have_a_header_and_no_empty_rows() -> None:
    """Rich cells stay in their row, several rows of headings become one, spans are said in each place."""
    page = """<table><tr><th rowspan=2>who</th><th colspan=2>price</th></tr><tr><th>child</th><th>adult</th></tr>
    <tr><td></td><td></td><td></td></tr><tr><td><b>we</b></td><td><a href="https://e.org">1</a></td><td>2</td></tr>
    </table>"""
    assert texts(parse_page(page.encode())) == [
        "| who | price - child | price - adult |\n| --- | --- | --- |\n| **we** | [1](https://e.org) | 2 |"
    ]


def test_entities_of_its_own_and_giant_spans_do_no_harm() -> None:
    """Nothing is expanded or read from this machine, and no table grows beyond its page."""
    page = b'<!DOCTYPE html [<!ENTITY e SYSTEM "file:///etc/passwd">]><svg><text>&e;</text></svg><p>text</p>'
    assert "root:" not in parse_page(page).markdown
    table = b"<table>" + b"<tr><td rowspan=65000 colspan=1000>x</td></tr>" * 20 + b"</table>"
    assert len(parse_page(table).markdown) < 200_000


def test_declared_encodings_are_honoured() -> None:
    """An old page in Latin-1 reads as written."""
    page = '<html><head><meta charset="iso-8859-1"><title>Grüße</title></head><body><p>Schöne Grüße</p></body></html>'
    document = parse_page(page.encode("latin-1"))
    assert (document.title, texts(document)) == ("Grüße", ["Schöne Grüße"])


@pytest.mark.parametrize("tag", ["div", "span", "article", "nav", "li", "a", "section", "blockquote", "table", "em"])
def test_bottomless_nesting_takes_no_minutes(tag: str) -> None:
    """Elements nested 5,000 deep are flattened; the text is kept."""
    started = time.process_time()
    document = parse_page(f"<{tag}>".encode() * 5_000 + b"text" + f"</{tag}>".encode() * 5_000)
    assert time.process_time() - started < 10
    assert "text" in document.markdown


def test_a_saved_page_keeps_its_body() -> None:
    """All text stays but the menu above the first heading and the footer; the setting chooses less or more."""
    page = (
        b"<header><nav><a href='/a'>Tides</a></nav></header><p>Harbour news</p><main><h1>Hours</h1><p>Open daily.</p>"
        b"</main><aside><h2>See also</h2><a href='/b'>Boats</a></aside><footer>Imprint</footer>"
    )
    body = "Harbour news\n\n# Hours\n\nOpen daily.\n\n## See also\n\n[Boats](/b)\n"
    assert parse_page(page).markdown == body
    expected = {"main": "# Hours\n\nOpen daily.\n", "body": body, "everything": f"[Tides](/a)\n\n{body}\nImprint\n"}
    for part in get_args(HtmlPart):
        document = parse(page, name="page.html", media_type="text/html", settings=ParsingSettings(html=part))
        assert document.markdown == expected[part]


def test_menus_are_kept_where_everything_is() -> None:
    """The main content leaves the menu out; the setting keeps it."""
    page = b"<nav><a href='/a'>Tides</a></nav><main><h1>Hours</h1><p>Open daily from nine.</p></main>"
    assert parse_page(page).markdown == "# Hours\n\nOpen daily from nine.\n"
    whole = parse(page, name="page.html", media_type="text/html", settings=ParsingSettings(html="everything"))
    assert whole.markdown.startswith("[Tides](/a)")
    assert whole.markdown.endswith("# Hours\n\nOpen daily from nine.\n")


def test_links_stay_as_written_without_the_address_of_the_page() -> None:
    """A browser's note and <base> give the address; a canonical link names a page, not the base of relative links."""
    link = '<p><a href="prices">Prices</a> of the ferry</p>'
    letters = '<p><a href="/Утка – 1?a=ö&amp;b=[x]#Č">Ente</a></p>'
    assert parse_page(letters.encode()).markdown == "[Ente](/Утка%20–%201?a=ö&b=%5Bx%5D#Č)\n"
    assert parse_page("<a href='ö(1'>Ente</a> link-target-7-of-page".encode()).markdown == (
        "[Ente](ö%281) link-target-7-of-page\n"
    )
    canonical = '<head><link rel="canonical" href="https://example.org/ferry/"></head>'
    assert parse_page(link.encode()).markdown == "[Prices](prices) of the ferry\n"
    assert parse_page((canonical + link).encode()).markdown == "[Prices](prices) of the ferry\n"
    absolute = "[Prices](https://example.org/ferry/prices) of the ferry\n"
    for named in (
        "<!-- saved from url=(0026)https://example.org/ferry/ -->",
        "<base href='https://example.org/ferry/'>",
    ):
        assert parse_page((named + link).encode()).markdown == absolute


def test_lists_and_images_stay_in_their_cells() -> None:
    """A cell is one line: list items are marked within it, images leave their text."""
    row = "<td><img alt='Monday'></td><td><ul><li>nine<li>ten</ul></td>"
    page = f"<table><tr><th>day</th><th>open</th></tr><tr>{row}</tr></table>"
    assert texts(parse_page(page.encode())) == ["| day | open |\n| --- | --- |\n| Monday | - nine - ten |"]


def test_what_a_saved_page_holds_of_its_components_and_frames_is_kept() -> None:
    """Shadow trees and frames within the source, as programs that save pages write them; templates stay unseen."""
    page = (
        '<h1>Ferry</h1><my-card><template shadowrootmode="open"><style>p {}</style><p>In a component.</p></template>'
        "</my-card>"
        '<iframe srcdoc="&lt;h2&gt;Fares&lt;/h2&gt;&lt;p&gt;In a &lt;b&gt;frame&lt;/b&gt;.&lt;/p&gt;"></iframe>'
        '<iframe hidden srcdoc="&lt;p&gt;unseen&lt;/p&gt;"></iframe><template><p>unused</p></template><p>End.</p>'
    )
    expected = "# Ferry\n\nIn a component.\n\n## Fares\n\nIn a **frame**.\n\nEnd.\n"
    assert parse_page(page.encode()).markdown == expected


def test_a_frameset_without_its_frames_shows_the_text_for_other_browsers() -> None:
    """That text is HTML, not its source."""
    page = "<frameset><frame src='a.html'><noframes><body><p>See the <b>list</b>.</p></body></noframes></frameset>"
    assert parse_page(page.encode()).markdown == "See the **list**.\n"


@pytest.mark.parametrize(
    "page",
    [
        "<noframes>" * 20_000 + "end",
        '<iframe srcdoc="&lt;p>x">' * 5_000,
        "<template shadowrootmode=open>" * 20_000 + "end",
    ],
)
def test_parts_within_parts_take_no_time_of_their_own(page: str) -> None:
    """However often one holds another."""
    before = time.process_time()
    parse_page(page.encode())
    assert time.process_time() - before < 3
