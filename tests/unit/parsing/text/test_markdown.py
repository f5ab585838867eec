"""Markdown keeps the author's text; blocks know where in it they lie."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.text.documentation.reading import plain_markdown
from sourcebook.parsing.text.markdown import parse_markdown
from tests.unit.parsing.covering import assert_blocks_cover, texts

SAMPLE = """\
# The *whole* `story` of [links](http://x)

First paragraph,
two lines.

Second
------

- a
  - b

1. one

| x | y |
|---|---|
| 1 | 2 |

```python
# no heading
```

> quoted

    indented = code

<div>html</div>

[ref]: http://example.org

***
"""


def kinds(document: ParsedDocument) -> list[str]:
    return [block.kind for block in document.blocks]


def test_finds_the_top_level_blocks() -> None:
    """Each kind of block is recognised, and its span is the author's text."""
    document = parse_markdown(SAMPLE.encode())
    assert document.markdown == SAMPLE
    assert kinds(document) == [
        *("heading", "paragraph", "heading", "list", "list", "table", "code", "quote", "code"),
        *("paragraph", "paragraph", "paragraph"),
    ]
    assert texts(document)[3] == "- a\n  - b"
    assert_blocks_cover(document)


def test_headings_have_level_and_plain_title() -> None:
    """Markdown inside a heading is not part of its title; setext headings count."""
    headings = [block for block in parse_markdown(SAMPLE.encode()).blocks if block.kind == "heading"]
    assert [(heading.level, heading.title) for heading in headings] == [
        (1, "The whole story of links"),
        (2, "Second"),
    ]


def test_front_matter_becomes_metadata() -> None:
    """Front matter gives title and metadata, as JSON values, and is in no block."""
    document = parse_markdown(b"---\ntitle: From YAML\ndate: 2024-01-31\ntags: [a, b]\nn: .nan\n---\n\n# Heading\n")
    assert document.title == "From YAML"
    assert document.metadata == {
        "title": "From YAML",
        "date": "2024-01-31",
        "tags": ["a", "b"],
        "n": None,
        "encoding": "utf-8",
    }
    assert texts(document) == ["# Heading"]


@pytest.mark.parametrize("source", ["---\ntitle: [open\n---\n\ntext", "---\n- a list\n---\n\ntext", "---\n\ntext"])
def test_what_is_no_front_matter_is_content(source: str) -> None:
    """Nothing is lost where the YAML is broken."""
    assert_blocks_cover(parse_markdown(source.encode()))


def test_multiplying_aliases_are_refused_as_front_matter() -> None:
    """A YAML bomb costs no memory, and is named."""
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    document = parse_markdown(("---\n" + "\n".join(lines) + "\n---\n\ntext\n").encode())
    assert document.metadata == {
        "encoding": "utf-8",
        "front_matter_error": "line 2: it is too large or nested too deeply",
    }


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("text\n\n# First\n\n# Second", "First"),
        ("## Top\n\ntext", "Top"),
        ("text\n\n## Below", None),
        ("no heading", None),
        ("## Sub\n\n# Main", "Main"),
    ],
)
def test_title_is_the_first_h1_or_a_heading_at_the_top(source: str, title: str | None) -> None:
    """A heading further down is no title."""
    assert parse_markdown(source.encode()).title == title


@pytest.mark.parametrize(
    "source",
    [
        ">" * 10_000,
        "> " * 10_000,
        "[" * 10_000,
        "# " + "[" * 10_000,
        "# " + "*a_" * 100_000,
        "- " * 10_000 + "x",
        "| a | b |\n|---|---|\n" + "| x | y |\n" * 10_000,
        "```",
        "text\n\n~~~",
        "#",
        "[a]: b\n" * 5_000,
        "".join(" " * depth + "- x\n" for depth in range(500)),
    ],
    ids=lambda source: source[:8],
)
def test_hostile_text_is_read_in_little_time(source: str) -> None:
    """Deep nesting, long headings and long tables end, and lose nothing."""
    begun = time.process_time()
    assert_blocks_cover(parse_markdown(source.encode()))
    assert time.process_time() - begun < 5


def test_long_documents_are_cut_at_no_fence() -> None:
    """Above a megabyte the text is parsed in sections, with the same blocks."""
    part = "## Part\n\n" + "words " * 50 + "\n\n```\n# code\n\n" + "x\n\n" * 20 + "```\n\n"
    document = parse_markdown((part * 4_000).encode())
    assert len(document.markdown) > 1_500_000
    assert kinds(document) == ["heading", "paragraph", "code"] * 4_000
    assert_blocks_cover(document)


@given(st.text(alphabet=st.sampled_from("ab #-*>`~|[]()!:1.\n\t\\<&_=+"), max_size=300))
def test_blocks_cover_any_markdown(source: str) -> None:
    """Whatever the text, blocks leave out only white space."""
    document = parse_markdown(source.encode())
    if plain_markdown(source).text is source:  # no tool has left a mark
        assert document.markdown == source
    if not document.metadata.keys() - {"encoding", "not_included"} and not source.startswith("---"):
        assert_blocks_cover(document)


def test_footnotes_comments_and_reference_definitions_are_text() -> None:
    """Text that a renderer hides or moves is at the offsets where the author wrote it."""
    source = "Text[^1] and [link][a].\n\n<!-- a comment\n\nof two paragraphs -->\n\n[^1]: The note.\n\n[a]: http://x\n"
    document = parse_markdown(source.encode())
    assert_blocks_cover(document)
    assert [text.split()[0] for text in texts(document)] == ["Text[^1]", "<!--", "[^1]:", "[a]:"]
