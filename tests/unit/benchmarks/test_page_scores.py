from dataclasses import replace

import pytest

from benchmarks.corpora.reference_page import read_page
from benchmarks.harness.page_scores import Passage, Words, anchor_fault, compare, plain_text

MARKDOWN = """# Guide

Begin *here*, at the [first](http://site/first.html "title") page.

## Install it

1. Fetch `the_file` now.
2. Unpack it.

## Use it

```python
# a comment
run(1)
```

| Name | Use |
| --- | --- |
| alpha | first value |
| beta | second value |
"""
PAGE = read_page(
    b"""<main><h1 id="guide">Guide</h1><p>Begin <em>here</em>, at the <a href="first.html">first</a> page.</p>
<section id="install"><h2>Install it</h2><ol><li>Fetch <code>the_file</code> now.<li>Unpack it.</ol></section>
<section id="use"><h2>Use it</h2><pre># a comment
run(1)</pre><table><tr><th>Name<th>Use<tr><td>alpha<td>first value<tr><td>beta<td>second value
</table></section></main>""",
    inside="main",
)


def _fault(anchor: str | None, beginning: str, markdown: str = MARKDOWN) -> str | None:
    return anchor_fault(PAGE, markdown, Passage(anchor, markdown.index(beginning), len(markdown)))


def test_markdown_is_compared_as_its_reader_sees_it() -> None:
    """Marks, targets of links and numbers of lists are no words, so that a perfect page has no noise."""
    assert compare(PAGE, MARKDOWN) == Words(28, 28, 28, 0)
    assert plain_text("![picture](x.png) a &lt;b&gt; \\_c\\_ <file> d") == "picture a <b> _c_ <file> d"


def test_recall_and_noise_count_every_repetition() -> None:
    """A word that a page has twice must be stored twice; what is stored without being there is noise."""
    page = read_page(b"<p>one one two three</p>", inside="p")
    assert compare(page, "one two menu menu") == Words(4, 2, 4, 2)
    assert (compare(page, "one two menu menu").recall, compare(page, "one two menu menu").noise) == (0.5, 0.5)
    assert compare(page, "") == Words(4, 0, 0, 0)
    assert (Words().recall, Words().noise) == (None, None)
    assert Words(4, 2, 5, 1) + Words(1, 1, 2, 0) == Words(5, 3, 7, 1)


def test_optional_words_are_neither_missed_nor_noise() -> None:
    """A table of contents may be kept, once."""
    page = read_page(b"<main><ul class=toc>one two</ul><p>one</p></main>", inside="main", optional=("ul.toc",))
    assert compare(page, "one") == Words(1, 1, 1, 0)
    assert compare(page, "one two one") == Words(1, 1, 3, 0)
    assert compare(page, "one two one two") == Words(1, 1, 4, 1)
    assert compare(page, "two") == Words(1, 0, 1, 0)
    drawn = read_page(b'<p>a <img alt="b c"> d</p>', inside="p")
    assert compare(drawn, "a d") == Words(2, 2, 2, 0)
    assert compare(drawn, "a ![b c](x.png) d") == Words(2, 2, 4, 0)
    hidden = read_page(
        b'<main>a<div style="display: none">b<div>c</div></div><br style="display:none">d</main>', inside="main"
    )
    assert compare(hidden, "a d") == Words(2, 2, 2, 0)
    assert compare(hidden, "a b c d") == Words(2, 2, 4, 0)


@pytest.mark.parametrize(
    ("anchor", "beginning"),
    [
        (None, "# Guide"),
        ("guide", "# Guide"),
        ("guide", "Begin"),
        ("install", "## Install"),
        ("install", "2. Unpack"),
        ("use", "```python"),
        ("use", "run(1)"),
        ("use", "| Name"),
        ("use", "| beta"),
        ("use", "second value"),
    ],
)
def test_an_anchor_is_right_wherever_its_section_is_cut(anchor: str | None, beginning: str) -> None:
    """Headings, paragraphs, items, lines of code, rows of a table, and the middle of them."""
    assert _fault(anchor, beginning) is None


@pytest.mark.parametrize(
    ("anchor", "beginning", "fault"),
    [
        ("gone", "# Guide", "the page has no id 'gone'"),
        ("guide", "## Install", "is not after the id 'guide'"),
        ("install", "Begin", "is not after the id 'install'"),
        ("install", "## Use", "is not after the id 'install'"),
        ("use", "2. Unpack", "is not after the id 'use'"),
        (None, "| beta", "is not before the first heading with an id"),
    ],
)
def test_an_anchor_of_another_section_is_wrong(anchor: str | None, beginning: str, fault: str) -> None:
    """Neither a section before nor one after is near enough, and none is not the beginning of the page."""
    assert fault in (_fault(anchor, beginning) or "")


def test_a_heading_that_several_sections_share_is_told_apart_by_the_words_below_it() -> None:
    """`Examples` is in every section of a manual."""
    page = read_page(
        b"<body><h2 id=a>Examples</h2><p>alpha<h2 id=b>Examples</h2><p>beta</body>",
        inside="body",
    )
    markdown = "## Examples\n\nalpha\n\n## Examples\n\nbeta\n"
    assert anchor_fault(page, markdown, Passage("b", markdown.rindex("##"), len(markdown))) is None
    assert anchor_fault(page, markdown, Passage("a", markdown.rindex("##"), len(markdown))) is not None


def test_repeated_cells_are_passed_over() -> None:
    """A cell that spans rows stands once on the page, above other cells, and in each row of the Markdown."""
    page = read_page(
        b"<body><h2 id=a>One</h2><table><tr><td>x1<td rowspan=2>spans<td>y1<tr><td>x2<td>y2</table>"
        b"<h2 id=b>Two</h2>z</body>",
        inside="body",
    )
    markdown = "## One\n\n| h | h | h |\n| --- | --- | --- |\n| x1 | spans | y1 |\n| x2 | spans | y2 |\n\n## Two\n\nz\n"
    row = Passage("a", markdown.index("| x2"), len(markdown))
    assert anchor_fault(page, markdown, row) is None
    assert anchor_fault(page, markdown, replace(row, anchor="b")) is not None
    assert (
        anchor_fault(page, markdown, replace(row, start=markdown.index("spans"), end=markdown.index("spans") + 5))
        is None
    )


def test_headers_of_several_rows_are_read_without_the_upper_ones() -> None:
    """Markdown has one row of headers, `price - adult`; where only repeated cells are left of a table, they count."""
    page = read_page(
        b"<body><h2 id=a>One</h2><table><tr><th rowspan=2>age<th colspan=2>price<tr><th>adult<th>child"
        b"<tr><td colspan=3>free on Sundays</table><h2 id=b>Two</h2>z</body>",
        inside="body",
    )
    head = "| age | price - adult | price - child |\n| --- | --- | --- |\n"
    markdown = f"## One\n\n{head}| free on Sundays | free on Sundays | free on Sundays |\n\n## Two\n\nz\n"
    table = Passage("a", markdown.index("| age"), len(markdown))
    rest = replace(table, start=markdown.index("| free"))
    assert (anchor_fault(page, markdown, table), anchor_fault(page, markdown, rest)) == (None, None)
    for passage in (table, rest):
        assert anchor_fault(page, markdown, replace(passage, anchor="b")) is not None


def test_a_heading_without_text_is_one_of_the_next_section() -> None:
    """A passage that begins with a title and the first section's heading may lead to either, and to no other."""
    page = read_page(
        b"<body><h1 id=title>Title</h1><h2 id=one>One</h2><p>text</p><h2 id=two>Two</h2></body>", inside="body"
    )
    markdown = "# Title\n\n## One\n\ntext\n\n## Two\n"
    faults = [anchor_fault(page, markdown, Passage(anchor, 0, len(markdown))) for anchor in ("title", "one", "two")]
    assert faults == [None, None, "'title' is not after the id 'two'"]


def test_a_passage_may_begin_within_nested_items() -> None:
    """A table of contents of megabytes is read from the item on, not from its beginning."""
    page = read_page(
        b"<body><h1 id=all>All</h1><ul><li>one<ul><li>two<ul><li>three<p>more</ul></ul></ul><h2 id=end>End</h2></body>",
        inside="body",
    )
    markdown = "# All\n\n- one\n  - two\n    - [three](http://site/three.html)\n\n      more\n\n## End\n"
    for beginning in ("- one", "- two", "  - two", "- [three", "more"):
        passage = Passage("all", markdown.index(beginning), len(markdown))
        assert anchor_fault(page, markdown, passage) is None
        assert anchor_fault(page, markdown, replace(passage, anchor="end")) is not None
