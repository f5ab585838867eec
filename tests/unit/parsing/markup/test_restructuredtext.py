"""reStructuredText comes out with its structure; what docutils does not know keeps its text."""

import pytest

from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.checkout import SHARED_DATA
from tests.unit.parsing.covering import assert_blocks_cover, texts
from tests.unit.parsing.drawn_files import MANUAL

PROPOSALS = SHARED_DATA / "relations" / "peps"


def read(source: str | bytes) -> ParsedDocument:
    content = source.encode() if isinstance(source, str) else source
    document = parse(content, name="a.rst", media_type=detect_media_type("a.rst", content[:4096]))
    assert_blocks_cover(document)
    return document


def markdown(source: str) -> str:
    return read(source).markdown.rstrip("\n")


def test_a_manual_keeps_its_structure() -> None:
    """Sections, lists, notes, code and tables are what they were; comments and the list of contents are gone."""
    document = read(MANUAL)
    assert texts(document) == [
        "# Lock manual",
        "- **Author:** Ada Byron\n- **Date:** 2024-05-01\n- **Keywords:** locks, safety",
        "## Gates",
        "Never open the *upper* gates before the `paddles` are down [1], see `open_all` and the rules.",
        "Added in version 3.2: Gates may be opened at night.",
        "**Warning**",
        "Mind the sill.",
        "```python\ngate.open()\n```",
        "*Levels*",
        "| day | cm |\n| --- | --- |\n| Monday | 212 |",
        "`close(gate, slowly=True)`",
        "Close a gate.",
        "[1] By statute.",
    ]
    assert document.title == "Lock manual"
    assert document.metadata == {
        "author": "Ada Byron",
        "date": "2024-05-01",
        "keywords": ["locks", "safety"],
        "encoding": "utf-8",
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("`a <https://example.org/>`_", "[a](https://example.org/)"),
        (":unknown:`Title <target>` and :c:func:`run`", "Title and `run`"),
        (":math:`x^2`", "$x^2$"),
        (".. math::\n\n   a + b", "```latex\na + b\n```"),
        (".. seealso:: The manual.", "**See also**\n\nThe manual."),
        (".. nowhere:: its argument\n   :option: x\n\n   its *content*", "its argument\n\nits *content*"),
        (".. mermaid::\n\n   a --> b", "```\na --> b\n```"),
        (".. toctree::\n   :maxdepth: 2\n\n   Start <intro>\n   usage", "- Start\n- usage"),
        (".. only:: html\n\n   shown", "shown"),
        ("before\n\n.. highlight:: none\n\nafter", "before\n\nafter"),
        (".. |x| replace:: words\n\nsome |x|", "some words"),
        (".. figure:: a.png\n\n   Its caption", "*Its caption*"),
        ("an |undefined| name and a_ target", "an undefined name and a target"),
        ("#. one\n\n   a. two", "1. one\n   - a. two"),
        ("term\n   definition", "**term**\n\ndefinition"),
    ],
)
def test_text_of_every_kind_is_kept(source: str, expected: str) -> None:
    """Directives and roles of Sphinx and of unknown programs keep their words."""
    assert markdown(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        ".. include:: /etc/hostname",
        ".. csv-table:: Names\n   :file: /etc/hostname",
        ".. raw:: html\n   :file: /etc/hostname",
        ".. raw:: html\n\n   <script>run()</script>",
    ],
)
def test_no_file_is_read_and_no_html_passes(source: str) -> None:
    """What would read a file or write HTML is shown as it is written."""
    assert markdown(source) == f"```\n{source}\n```"


def test_a_table_with_a_mistake_keeps_its_words() -> None:
    """What docutils reports as an error and leaves out is shown as it is written."""
    assert "Monday" in markdown("=====  =====\nday    cm\n=====  =====\nMonday and much more  212\n")


@pytest.mark.parametrize(
    "source",
    ["".join(f"{'  ' * depth}- gate {depth}\n\n" for depth in range(400)), f"gate {'x' * 20_000}\n"],
    ids=["nested", "a long line"],
)
def test_what_docutils_refuses_is_plain_text(source: str) -> None:
    """Neither deep nesting nor a long line loses a word."""
    document = read(source)
    assert document.markdown == source
    assert document.metadata["markup"] == "refused"


def test_substitutions_do_not_grow_without_end() -> None:
    """A name that stands for nine of the next one, twelve times over, is not expanded."""
    lines = [f".. |{chr(98 + n)}| replace:: {f'|{chr(97 + n)}|' * 9}" for n in range(12)]
    assert len(markdown("\n".join([".. |a| replace:: " + "x" * 1000, *lines, "", "|m|"]))) < 100_000


def test_the_header_of_a_proposal_is_metadata() -> None:
    """Its title has the number; its other fields are a list and metadata."""
    document = read(
        "PEP: 9\nTitle: Locks *and* gates\nAuthor: A <a@example.org>,\n        B\nRequires: 7\n\n"
        "Abstract\n========\n\nYes.\n"
    )
    assert document.title == "PEP 9 – Locks *and* gates"
    assert document.metadata["author"] == "A <a@example.org>, B"
    assert document.metadata["requires"] == "7"
    assert [block.title for block in document.blocks if block.kind == "heading"][1:] == ["Abstract"]


@pytest.mark.skipif(not PROPOSALS.is_dir(), reason=f"the shared data is not at {PROPOSALS}")
@pytest.mark.parametrize("number", [204, 210, 287, 333, 343, 400])
def test_real_proposals_keep_their_words(number: int) -> None:
    """Nearly every word of the source is in the text; none of them is refused."""
    content = (PROPOSALS / f"pep-{number:04}.rst").read_bytes()
    document = read(content)
    assert "markup" not in document.metadata
    assert document.title is not None
    assert document.title.startswith(f"PEP {number} – ")
    wanted = set(content.decode().split())
    words = {word for word in wanted if word.isalpha()}
    assert len(words - set(document.markdown.replace("*", " ").split())) <= len(words) * 0.03


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (":doc:`the set-up <../guide/setup>`", "[the set-up](../guide/setup)"),
        (":doc:`/guide/setup`", "[/guide/setup](/guide/setup)"),
        (":download:`the data <data file.csv>`", "[the data](data%20file.csv)"),
        (":std:doc:`here <a>`", "[here](a)"),
        (":ref:`this part <part one>`", "[this part](#part-one)"),
        (":ref:`Part One`", "[The first part](#part-one)"),
        (":ref:`the place <place>`", "[the place](#place)"),
        (":ref:`elsewhere <label of another document>`", "elsewhere"),
        (":ref:`label-of-another`", "label-of-another"),
        (":doc:`!not-a-link`", "not-a-link"),
        (":doc:`script <javascript:alert(1)>`", "script"),
    ],
)
def test_roles_that_name_documents_and_labels_are_links(role: str, expected: str) -> None:
    """A document or file beside it by its path; a label where the document itself has it."""
    sections = "\n\n.. _part one:\n\nThe first part\n==============\n\n.. _place:\n\nText.\n\nThe second\n==========\n"
    source = f"See {role}.{sections}"
    assert markdown(source).startswith(f"See {expected}.")


def test_the_only_section_of_a_titled_document_is_a_section() -> None:
    """docutils takes its heading as a subtitle; links to it, and sections within it, keep their places."""
    document = read(b"Pier\n====\n\nTides\n-----\n\n:Author: Ada\n\nSee `Tides`_.\n\nLow water\n~~~~~~~~~\n\nAt six.\n")
    headings = [(block.level, block.title) for block in document.blocks if block.level]
    assert (document.title, headings) == ("Pier", [(1, "Pier"), (2, "Tides"), (3, "Low water")])
    assert document.metadata["author"] == "Ada"
    assert "[Tides](#tides)" in document.markdown
