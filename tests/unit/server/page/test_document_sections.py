"""The text of a document: where its passages begin, and what is left out of its Markdown."""

from itertools import pairwise

import pytest

from sourcebook.contract.documents import Passage
from sourcebook.server.page.document_text import PART_CHARACTERS, Part, parts_of, plain_sections, rendered_sections


def passage(ordinal: int, start: int) -> Passage:
    return Passage(ordinal, "", [], None, None, None, None, start, start + 1, 1)


def rendered(text: str, *starts: int, title: str = "") -> list[tuple[list[int], str]]:
    part = Part(text, tuple(passage(number, start) for number, start in enumerate(starts)), 0)
    return [
        ([each.ordinal for each in section.passages], str(section.content))
        for section in rendered_sections(part, title)
    ]


def test_a_section_begins_with_the_block_in_which_a_passage_begins() -> None:
    text = "# One\n\nfirst\n\nsecond\n\n- a\n- b\n\nlast"
    sections = rendered(text, 0, text.index("second"), text.index("b"), text.index("last"))
    assert [ordinals for ordinals, _ in sections] == [[0], [1], [2], [3]]
    assert [("first" in html, "second" in html, "<li>" in html, "last" in html) for _, html in sections] == [
        (True, False, False, False),
        (False, True, False, False),
        (False, False, True, False),
        (False, False, False, True),
    ]


def test_two_passages_of_one_block_share_its_section() -> None:
    assert [ordinals for ordinals, _ in rendered("one long paragraph\nof two lines", 0, 19)] == [[0, 1]]


def test_a_passage_that_begins_behind_the_last_block_has_a_section() -> None:
    assert [ordinals for ordinals, _ in rendered("text\n\n[a]: /b\n", 0, 6)] == [[0], [1]]


def test_front_matter_is_no_text_unless_a_passage_has_it() -> None:
    text = "---\ntitle: Rules\ntags: [a]\n---\n\n# Rules\n\nfirst\n\nsecond"
    sections = rendered(text, text.index("# Rules"), text.index("second"), title="Rules")
    assert [(ordinals, html.strip()) for ordinals, html in sections] == [([0], "<p>first</p>"), ([1], "<p>second</p>")]
    assert "tags" in rendered(text, 0)[0][1]
    assert "tags" in rendered(text)[0][1]


def test_headings_stand_below_that_of_the_page_and_leave_no_level_out() -> None:
    ((_, html),) = rendered("# Title\n\n### Deep\n\n###### Deepest\n\n## Up", 0, title="Title")
    assert "Title" not in html
    assert [html[at + 1 : at + 3] for at in range(len(html)) if html.startswith(("<h2", "<h3"), at)] == [
        "h2",
        "h3",
        "h3",
    ]


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("<script>canary()</script>x", "x"),
        ("[a](javascript:canary())", "<p>[a](javascript:canary())</p>\n"),
        (
            '<a href=" javascript:canary()" onclick="canary()">a</a>',
            '<p><a rel="noopener noreferrer nofollow">a</a></p>\n',
        ),
        ("[a](/documents/1)", '<p><a rel="noopener noreferrer nofollow">a</a></p>\n'),
        ("[a](https://a.example/b)", '<p><a href="https://a.example/b" rel="noopener noreferrer nofollow">a</a></p>\n'),
        ("![<b>](https://a.example/b.png)", "<p><i>[&lt;b&gt;]</i></p>\n"),
        ('<p id="main" class="top" style="color:red" hx-get="/">a</p>', "<p>a</p>"),
        ('<a href="https://a.example/<table>">a</a>', '<p><a rel="noopener noreferrer nofollow">a</a></p>\n'),
        ("`<table>`", "<p><code>&lt;table&gt;</code></p>\n"),
        ("a\u202eb", "<p>ab</p>\n"),
    ],
)
def test_nothing_acts(markdown: str, html: str) -> None:
    ((_, found),) = rendered(markdown)
    assert found == html


def test_tables_and_code_can_be_scrolled_by_keyboard() -> None:
    ((_, html),) = rendered("| a |\n|--|\n| 1 |\n\n```\ncode\n```")
    assert html.count('tabindex="0"') == 2
    assert html.count("<div") == html.count("</div>") == 1


def test_a_long_text_is_cut_where_passages_begin_and_nothing_is_lost() -> None:
    text = "word " * 60_000
    passages = [passage(number, start) for number, start in enumerate(range(0, len(text), 1_000))]
    parts = parts_of(text, passages)
    assert "".join(part.text for part in parts) == text
    assert [held.ordinal for part in parts for held in part.passages] == list(range(len(passages)))
    assert all(len(part.text) <= 2 * PART_CHARACTERS for part in parts)
    assert all(later.begin == earlier.begin + len(earlier.text) for earlier, later in pairwise(parts))
    plain = [section for part in parts for section in plain_sections(part)]
    assert "".join(section.content for section in plain) == text
    assert [section.passages[0].ordinal for section in plain] == list(range(len(passages)))


@pytest.mark.parametrize("text", ["", "a" * 4 * PART_CHARACTERS, "a\n" * 2 * PART_CHARACTERS])
def test_a_text_without_passages_is_cut_at_ends_of_lines(text: str) -> None:
    parts = parts_of(text, [])
    assert "".join(part.text for part in parts) == text
    assert all(part.text.endswith("\n") for part in parts[:-1])
    assert len(parts) == (1 if "\n" not in text else 4)
