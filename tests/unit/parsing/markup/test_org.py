"""Org outlines as Markdown."""

import time
from pathlib import Path

import pytest

from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts

FILES = Path(__file__).parent.parent / "files"


def read(content: str | bytes, name: str = "notes.org") -> ParsedDocument:
    content = content.encode() if isinstance(content, str) else content
    media_type = detect_media_type(name, content[:4096])
    assert media_type == "text/x-org"
    document = parse(content, name=name, media_type=media_type)
    assert_blocks_cover(document)
    return document


def test_an_outline_of_another_program() -> None:
    """Headings have their level below the title and their own id as anchor; lists, tables, code and notes are kept."""
    document = read((FILES / "lock.org").read_bytes())
    headings = [(block.level, block.title, block.anchor) for block in document.blocks if block.kind == "heading"]
    assert headings == [
        (1, "Lock manual", None),
        (2, "Gates", "gates"),
        (3, "Order of work", "order-of-work"),
        (2, "Keeper's house", "keepers-house"),
    ]
    assert document.title == "Lock manual"
    assert document.metadata == {"author": "Ada Byron", "date": "2024-05-01", "encoding": "utf-8"}
    assert "**paddles** are down.[1] See\n[the rules](https://example.org/rules)." in document.markdown
    assert "2. Raise the upper paddles.\n   - left first\n   - then right" in document.markdown
    assert "| Gate | Width (m) |\n| --- | --- |\n| Äpper | 4.5 |" in document.markdown
    assert '```python\ndef open_gate(side):\n    return f"{side} is open"\n```' in document.markdown
    assert "> Mind the sill." in texts(document)
    assert "[1] They weigh three tons." in texts(document)
    assert "PROPERTIES" not in document.markdown


def test_tags_dates_and_language_are_metadata() -> None:
    """The tags of the file, then those of its headings; instructions for export are none."""
    document = read(
        "#+TITLE: Rota\n#+FILETAGS: :lock:night:\n#+DATE: <2024-05-01 Wed>\n#+LANGUAGE: de-AT\n"
        "* TODO [#A] Grease the gates :grease:lock:\n* Scratch :noexport:\nunsorted\n"
    )
    assert document.metadata["tags"] == ["lock", "night", "grease"]
    assert document.metadata["date"] == "2024-05-01"
    assert document.language == "de"
    assert [block.title for block in document.blocks if block.kind == "heading"] == [
        "Rota",
        "TODO Grease the gates",
        "Scratch",
    ]


def test_drawers_comments_and_settings_are_left_out() -> None:
    """A line with a colon that closes no drawer is text, and so is a block that does not end."""
    document = read(
        "# a comment\n#+STARTUP: overview\n#+OPTIONS: toc:nil\n* Log\n:LOGBOOK:\n- State DONE\n:END:\nkept\n"
        "#+begin_comment\nprivate\n#+end_comment\n#+INCLUDE: other.org\n* Open\n:odd:\n#+begin_src c\nint x;\n"
    )
    assert texts(document) == ["# Log", "kept", "`#+INCLUDE: other.org`", "# Open", ":odd:\n#+begin_src c\nint x;"]


def test_lists_hold_paragraphs_code_and_terms() -> None:
    """An item's nested blocks stay in it; a term stands before its description; counters are no text."""
    document = read(
        "- sill :: the lowest edge\n- [X] gate\n  #+begin_src sh\n  open  --slowly\n  #+end_src\n"
        "  1. [@3] first\n  2. second\n+ last\n\n\nafter\n"
    )
    assert texts(document) == [
        "- **sill**: the lowest edge\n- [X] gate\n  ```sh\n  open  --slowly\n  ```\n  1. first\n  2. second\n- last",
        "after",
    ]
    assert [block.kind for block in document.blocks] == ["list", "paragraph"]


def test_inline_markup() -> None:
    """Signs inside words, and those of code, are no markup; links to files are their words; pictures are no text."""
    written = {
        "a_b_c and 2*3*4 or /usr/bin": "a_b_c and 2*3*4 or /usr/bin",
        "~a*b*~ and =[[x]]= (*bold*), /it/!": "`a*b*` and `[[x]]` (**bold**), *it*!",
        "[[https://example.org/a(b)][the /rules/]]": "[the *rules*](https://example.org/a%28b%29)",
        "[[file:notes.org::*Gate][gates]], [[id:12][it]] and [[#sill]]": "gates, it and sill",
        "see [[file:lock.png]] here[fn:: by statute]": "see  here (by statute)",
    }
    assert {source: read(source).markdown.strip() for source in written} == written


def test_tables_without_rules_and_with_formulas() -> None:
    """Widths and groups of columns are no rows; a bar in a cell is escaped."""
    document = read("| <l> | <5> |\n| / | < |\n|-----+---|\n| a\\vert{}b | *2* |\n|---|\n#+TBLFM: $2=$1\n")
    assert texts(document) == ["| a\\|{}b | **2** |\n| --- | --- |"]


def test_old_encodings_are_found() -> None:
    """An outline in Windows-1252 is read as one."""
    text = "* Schleuse\nDie Größe der Schleuse beträgt zwölf Meter, und die Tür öffnet früh.\n"
    document = read(text.encode("cp1252"))
    assert "Größe der Schleuse beträgt zwölf" in document.markdown


@pytest.mark.parametrize(
    "content",
    [
        "#+begin_quote\n" * 8_000,
        "#+begin_quote\n" * 5_000 + "x\n" + "#+end_quote\n" * 5_000,
        "".join(f"{' ' * (2 * n)}- x\n" for n in range(400)),
        ":a:\n" * 20_000 + ":END:\nx",
        "* " + " :a" * 50_000,
        "#+title:" + " " * 100_000 + "x",
        "x " + "[[a][" * 5_000,
        "x " + "*a /b _c =d " * 10_000,
        "[fn:: " * 20_000,
        "- a\n\n" * 8_000,
        "|" * 100_000 + "x|",
    ],
)  # fmt: skip
def test_hostile_outlines_take_seconds(content: str) -> None:
    """Thousands of beginnings without an end, or nested ones, neither fail nor take quadratic time."""
    begun = time.process_time()
    document = read(content)
    assert document.markdown
    assert time.process_time() - begun < 5
