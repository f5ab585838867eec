"""AsciiDoc becomes Markdown, and nothing is read from elsewhere."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import ASCIIDOC
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover

HEADER = """\
// a comment
= The *Guide*
Ada Lovelace <ada@example.org>; Bob Roe
v1.2, 2024-05-06: Spring
:keywords: alpha, beta
:description: About \\
  things
:lang: de
:product: Widget

Text.
"""


def read(source: str) -> ParsedDocument:
    document = parse(source.encode(), name="a.adoc", media_type=ASCIIDOC)
    assert_blocks_cover(document)
    return document


@pytest.fixture(scope="module", autouse=True)
def reader() -> None:
    """Import the reader and load its language model, so that no example of a test pays for them."""
    read("A sentence of prose that is long enough for its language to be identified.")


def markdown(source: str) -> str:
    return read(source).markdown.rstrip("\n")


def test_the_header_is_metadata() -> None:
    """Title, authors, revision and attributes are separated from the text."""
    document = read(HEADER)
    assert document.title == "The Guide"
    assert document.language == "de"
    assert document.metadata == {
        "author": "Ada Lovelace, Bob Roe",
        "date": "2024-05-06",
        "version": "1.2",
        "description": "About things",
        "tags": ["alpha", "beta"],
        "encoding": "utf-8",
    }
    assert document.markdown == "# The **Guide**\n\nText.\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("*a* _b_ `c` **d**e __f__g #h# x^2^ H~2~O", "**a** _b_ `c` **d**e *f*g h x^2 H2O"),
        ("https://x.test[text] and link:https://y.test[]", "[text](https://x.test) and <https://y.test>"),
        ("See <<a,the part>>, <<b>> and xref:c.adoc[C].", "See the part, b and C."),
        ("Word.footnote:[The note.] `*no* {x}`", "Word. (The note.) `*no* {x}`"),
        (":v: 1.0\n\n{v} {undefined} \\{v}", "1.0 {undefined} {v}"),
        ("one +\ntwo // not\n// comment\nthree", "one  \ntwo // not\nthree"),
        ("snake_case_name 2*3*4 a~b", "snake_case_name 2*3*4 a~b"),
        ("NOTE: Mind *this*.", "**Note:** Mind **this**."),
        (".A figure\nimage::a.png[]", "**A figure**"),
        ("image::a.png[A ship, 200]\n\nimage:b.png[alt] end", "A ship\n\nalt end"),
        (
            "== One\n=== Two ==\n\nThree\n-----\n\n[discrete]\n==== Four",
            "## One\n\n### Two ==\n\n## Three\n\n#### Four",
        ),
        ("////\nno\n////\nyes\n\nifdef::x[]\nkept\nendif::[]", "yes\n\nkept"),
        ("++++\n<b>raw</b>\n++++", "```\n<b>raw</b>\n```"),
        ("[stem]\n++++\nx^2\n++++\n\nstem:[y]", "$$\nx^2\n$$\n\n$y$"),
        (" literal\n  text", "```\n literal\n  text\n```"),
    ],
)
def test_text_and_marks(source: str, expected: str) -> None:
    """Inline and block markup becomes the equivalent Markdown, or disappears."""
    assert markdown(source) == expected


def test_lists_nest_by_their_markers() -> None:
    """Indentation does not matter; a plus attaches what comes next."""
    source = "* one\n** two\nmore\n*** three\n* four\n+\n----\ncode\n----\n\n"
    source += ". a\n. b\n.. c\n\n//-\n\nterm:: said\nother::\n  also"
    assert markdown(source) == (
        "- one\n  - two\n    more\n    - three\n- four\n\n  ```\n  code\n  ```\n  1. a\n  2. b\n     1. c\n\n"
        "- **term**: said\n- **other**: also"
    )


def test_code_keeps_language_and_lines() -> None:
    """A listing, a fenced block and a paragraph may be code; what looks like marks in it is not."""
    assert markdown("[source,python]\n.Title\n----\n*x*\n\n== y\n----") == "**Title**\n\n```python\n*x*\n\n== y\n```"
    assert markdown("```ruby\nputs\n```") == "```ruby\nputs\n```"
    assert markdown("[source,go]\nfunc()\n\ntext") == "```go\nfunc()\n```\n\ntext"
    assert markdown("....\n```\n....") == "````\n```\n````"


def test_blocks_within_blocks() -> None:
    """Admonitions and quotes are quotes, and hold lists and code."""
    source = "[WARNING]\n.Hot\n====\nMind.\n\n* a\n====\n\n[quote, Ada, Notes]\n____\nSaid.\n____"
    assert markdown(source) == "> **Warning:** Hot\n>\n> Mind.\n>\n> - a\n\n> Said.\n>\n> — Ada, Notes"


@pytest.mark.parametrize(
    "source",
    [
        "|===\n|a |b\n\n|1 |2 \\| 3\n|===",
        '[cols="1,2"]\n|===\n|a\n|b\n\n|1\n|2 \\| 3\n|===',
        "[%header,format=csv]\n|===\na,b\n1,2 | 3\n|===",
        ",===\na,b\n1,2 | 3\n,===",
    ],
)
def test_tables_are_read_however_they_are_written(source: str) -> None:
    """Cells on one line or several, or comma-separated."""
    assert markdown(source) == "| a | b |\n| --- | --- |\n| 1 | 2 \\| 3 |"


def test_cells_over_several_columns_and_rows_keep_the_others_in_place() -> None:
    """The other places of a spanning cell stay empty."""
    assert markdown("|===\n|a |b |c\n\n2+|wide |1\n.2+|high |2 |3\n|4 |5\n|===").splitlines()[2:] == [
        "| wide |  | 1 |",
        "| high | 2 | 3 |",
        "|  | 4 | 5 |",
    ]


def test_includes_are_shown_and_never_read(tmp_path: Path) -> None:
    """A path to a file that exists gives its line, not its content."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret text")
    assert markdown(f"before\n\ninclude::{secret}[]") == f"before\n\n`include::{secret}[]`"


@pytest.mark.parametrize(
    "source",
    [
        "====\n" * 5_000,
        "\n".join("=" * length for length in range(4, 1_000)),
        "|===\n" + "|" * 30_000,
        '[cols="999999*"]\n|===\n999999*|x\n.99999+|y\n|===',
        ":a: " + "x" * 5_000 + "\n\n" + "{a}" * 50_000,
        ":a: {a}{a}\n" * 500 + "\n{a}",
        "https://" * 10_000,
        "*a _b" * 20_000,
        ". a\n+\n" * 3_000,
        "a::" * 20_000,
        "((((" * 10_000,
    ],
    ids=lambda source: source[:10],
)
def test_hostile_sources_end(source: str) -> None:
    """Nesting, attributes and marks without end cost little time and memory."""
    begun = time.process_time()
    assert len(read(source).markdown) < 5_000_000
    assert time.process_time() - begun < 10


@settings(deadline=None)
@given(st.lists(st.sampled_from([*"*_`.=-+|[]{}:<> a1\n\n\n", "----\n", "====\n", "|===\n", "\n* ", "\n. ", "::",
                                 "\n+\n", "[source]\n", "include::x[]\n", "____\n", "NOTE: "]),
                max_size=60))  # fmt: skip
def test_any_source_is_read(pieces: list[str]) -> None:
    """No order of marks makes the parser fail."""
    read(f"x{''.join(pieces)}")


def test_raised_and_lowered_words() -> None:
    """An exponent and the mark of a note keep their meaning."""
    assert markdown("10^6^ t of CO~2~ in 1815^3^, the 1^st^.") == "10^6 t of CO2 in 1815[3], the 1st."
