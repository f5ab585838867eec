"""A heading of the Markdown leads back to where it stands on its page."""

import re

import pytest

from sourcebook.parsing.html.cleaner import CleanedPage, clean_page

MARKERS = re.compile("[\ue000-\ue002]")
URL = "https://site.example/docs/page"
FILLER = "<p>The ferry leaves at nine and takes an hour to the island, weather permitting.</p>"


def clean(body: str) -> CleanedPage:
    return clean_page(f"<!doctype html><body>{body}</body>".encode(), url=URL, content_type="text/html; charset=utf-8")


def headings(page: CleanedPage) -> list[tuple[int, str, str | None]]:
    return [(block.level, block.title, block.anchor) for block in page.blocks if block.kind == "heading"]


@pytest.mark.parametrize(
    ("html", "anchor"),
    [
        ('<h2 id="own"><a id="inner"></a>T</h2>', "own"),
        ('<h2><a name="inner">T</a></h2>', "inner"),
        ('<section id="around"><h2>T</h2></section>', "around"),
        ('<div id="outer"><div class="titlepage"><div><h2>T</h2></div></div></div>', "outer"),
        ('<div id="outer"> <span></span><h2>T</h2></div>', "outer"),
        ('<a name="before"></a><h2>T</h2>', "before"),
        ('<p><a id="before"></a></p><div><h2>T</h2></div>', "before"),
        ('<div id="outer"><div>Menu</div><span id="near"></span><h2>T</h2></div>', "near"),
        ('<section id="around"><span id="alias"></span><h2>T</h2></section>', "alias"),
        ('<section id="around"><span id="alias"></span><h2>T <a href="#around">¶</a></h2></section>', "around"),
        ('<p>Text.<a name="before"></a><h2>T</h2>', "before"),
        ('<p>Text.<a name="before"></a></p><hr><h2>T</h2>', "before"),
        ('<p>Text.<a name="above"></a><em>More.</em></p><h2>T</h2>', ""),
        ('<div>Text.<div id="toolbar"></div></div><h2>T</h2>', ""),
        ('<p id="text">Text.</p><h2>T</h2>', ""),
        ('<div id="outer"><p>First.</p><h2>T</h2></div>', ""),
        ('<a name="before"></a>Text.<h2>T</h2>', ""),
        ('<h2 id="two words">T</h2>', "two%20words"),
        ('<p>Text.</p><hr><a name="two words"></a><h2>T</h2>', "two%20words"),
        ('<h2 id=" ">T</h2>', ""),
        ('<section id="my part"><i id="alias"></i><h2>T <a href="#my part">¶</a></h2></section>', "my%20part"),
        ('<section id="x"><i id="id1"></i><h2>T<a class="headerlink" href="#x">¶</a></h2></section>', "x"),
        ('<section id="x"><i id="id1"></i><h2>T<a class="hash-link" href="#x">Go</a></h2></section>', "x"),
        ("<h2>T</h2>", ""),
    ],
)
def test_anchor(html: str, anchor: str) -> None:
    """A heading's anchor is an id of the page that a browser scrolls to for it, or "" where there is none."""
    assert headings(clean(FILLER + html + FILLER)) == [(2, "T", anchor)]


@pytest.mark.parametrize(
    "sign",
    [
        '<a href="#x">¶</a>',
        '<a class="headerlink" href="#x">§</a>',
        '<a href="#x"><svg></svg></a>',
        '<a href="#x">Link to this heading</a>',
        '<a class="hash-link" href="#x">\u200b</a>',
        '<a href="#x" aria-hidden="true">#</a>',
        '<a href="#x"><img src="l.png" alt=""></a>',
    ],
)
def test_permalinks_are_no_part_of_a_heading(sign: str) -> None:
    """The signs that generators put beside headings are left out of title and Markdown."""
    page = clean(f'<h2 id="x">C# and <code>F#</code> {sign}</h2>{FILLER}')
    assert headings(page) == [(2, "C# and F#", "x")]
    assert page.markdown.startswith("## C# and `F#`\n")


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td><h2 id=x>T</h2></td><td>cell</td></tr></table>",
        "<a href=/card><h2 id=x>T</h2></a>",
        "<details><summary><h2 id=x>T</h2></summary>more</details>",
        "<b><h2 id=x>T</h2></b>",
        "<figure><figcaption><h2 id=x>T</h2>caption</figcaption></figure>",
        "<h2 id=x><a href='#x'>T</a></h2>",
    ],
)
def test_headings_wherever_they_stand(html: str) -> None:
    """A heading in a layout table, a link, a summary or a bold element is a heading of the page."""
    page = clean(html + FILLER)
    assert headings(page) == [(2, "T", "x")]
    assert not MARKERS.search(page.markdown + "".join(block.title for block in page.blocks))


@pytest.mark.parametrize("tag", ["ul><li", "blockquote", "dl><dt"])
def test_markers_do_not_survive(tag: str) -> None:
    """However a heading is wrapped, and whatever private-use characters the page has, no marker is left."""
    page = clean(f"<h1>A \ue0001\ue001 &#xE000;2&#57345;</h1><{tag}><h2 id=x>T</h2>text</{tag[-2:]}>{FILLER}\ue002")
    assert "T" in page.markdown
    assert not MARKERS.search(page.markdown + "".join(block.title for block in page.blocks))


def test_titles_of_notes_are_no_headings() -> None:
    """What follows a note does not stand below it."""
    page = clean(f'<h2 id=a>A</h2><div class="note"><h3 class="title">Note</h3><p>Mind.</p></div>{FILLER}')
    assert headings(page) == [(2, "A", "a")]
    assert "**Note**\n\nMind." in page.markdown


def test_an_id_that_is_used_twice_is_the_anchor_of_its_first_heading() -> None:
    """A browser scrolls to the first element of an id, so that the second heading has no place of its own."""
    page = clean(f"<h2 id=notes>One</h2>{FILLER}<h2 id=notes>Two</h2>{FILLER}")
    assert headings(page) == [(2, "One", "notes"), (2, "Two", "")]


def test_headings_in_bulleted_lists_begin_sections() -> None:
    """Javadoc puts each method into an item of a list, and sites put cards into one."""
    page = clean(
        f"<ul><li><section id=methods><h2>Methods</h2><ul><li><section id=run><h3>run</h3>{FILLER}</section></li></ul>"
        f"</section></li><li>Last.</li></ul><ul><li>one</li><li>two</li></ul>"
    )
    assert headings(page) == [(2, "Methods", "methods"), (3, "run", "run")]
    assert page.markdown.endswith("\n\nLast.\n\n- one\n- two\n")


def test_a_listing_beside_the_numbers_of_its_lines_stays_code() -> None:
    """A table without header cells that places code is no list: its fences would not end, and swallow headings."""
    cells = "<td><pre>1\n2</pre></td><td class=listing_code><pre>int a;\nint b;</pre></td>"
    page = clean(f"{FILLER}<table border=0><tbody><tr>{cells}</tr></tbody></table><h2 id=x>T</h2>{FILLER}")
    assert headings(page) == [(2, "T", "x")]
    assert "```\nint a;\nint b;\n```\n" in page.markdown


def test_anchors_cost_no_quadratic_time() -> None:
    """Headings without text after many elements without text look back at few of them."""
    page = clean(f"{'<i></i>' * 20_000}{'<h2><a href=#>¶</a></h2>' * 2_000}<h2 id=x>T</h2>{FILLER}")
    assert headings(page) == [(2, "T", "x")]
