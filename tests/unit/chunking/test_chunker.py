"""Passages follow the document's structure and fit the model."""

import time
from dataclasses import replace
from itertools import pairwise

import pytest

from sourcebook.chunking.chunk import Chunk
from sourcebook.chunking.chunker import chunk_document
from sourcebook.model.document import Block, ParsedDocument
from sourcebook.parsing.parse import parse
from sourcebook.parsing.text.comma_separated import parse_csv
from sourcebook.parsing.text.markdown import parse_markdown
from sourcebook.parsing.text.plain_text import parse_plain_text
from tests.unit.chunking.bundled_tokenizer import bundled_tokenizer
from tests.unit.chunking.promises import assert_promises

SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank. "


def chunks(markdown: str, *, title: str | None = None, tokens: int = 256, overlap: int = 0) -> list[Chunk]:
    document = parse_markdown(markdown.encode())
    return chunk_document(document, title=title, tokens=tokens, overlap=overlap, tokenizer=bundled_tokenizer())


def chunks_of_page(markdown: str, anchors: dict[str, str]) -> list[Chunk]:
    document = parse_markdown(markdown.encode())
    blocks = tuple(replace(block, anchor=anchors.get(block.title)) for block in document.blocks)
    return chunk_document(
        replace(document, blocks=blocks), title=None, tokens=256, overlap=0, tokenizer=bundled_tokenizer()
    )


def words_of(chunk: Chunk) -> list[str]:
    return chunk.text.split()


def test_sections_have_their_own_passages() -> None:
    """A passage knows its headings, its anchor and its place."""
    source = f"# Guide\n\n{SENTENCE * 6}\n\n## Setup\n\n{SENTENCE * 6}\n\n#### Deep\n\n{SENTENCE * 6}\n"
    found = chunks(source)
    assert [(chunk.ordinal, chunk.heading_path, chunk.anchor) for chunk in found] == [
        (0, ("Guide",), "guide"),
        (1, ("Guide", "Setup"), "setup"),
        (2, ("Guide", "Setup", "Deep"), "setup"),
    ]
    assert found[1].text.startswith("## Setup\n\nThe quick")
    assert all(chunk.text == source[chunk.start_char : chunk.end_char] for chunk in found)


def test_embedding_text_names_what_stands_above() -> None:
    """Title and headings come first, but not those with which the passage itself begins."""
    source = f"# Guide\n\n## Setup\n\n{SENTENCE * 30}"
    first, second, *_ = chunks(source, title="Manual")
    assert first.embedding_text == f"Manual\n\n{first.text}"
    assert first.text.startswith("# Guide\n\n## Setup\n\nThe quick")
    assert second.embedding_text == f"Manual > Guide > Setup\n\n{second.text}"
    assert first.heading_path == second.heading_path == ("Guide", "Setup")


def test_a_title_equal_to_the_first_heading_is_not_repeated() -> None:
    """Nothing is said twice."""
    first, second, *_ = chunks(f"# Guide\n\n{SENTENCE * 30}", title="Guide")
    assert first.embedding_text == first.text
    assert second.embedding_text == f"Guide\n\n{second.text}"


def test_tiny_sections_join_their_siblings() -> None:
    """A list of short answers makes one passage, under the heading they share."""
    found = chunks("# FAQ\n\n" + "".join(f"## Question {n}\n\nAnswer {n}.\n\n" for n in range(4)))
    assert [(chunk.heading_path, chunk.anchor) for chunk in found] == [(("FAQ",), "faq")]


def test_a_passage_has_the_nearest_anchor_above_it() -> None:
    """A heading without an anchor leads to the one before it, and a passage to the heading that it begins with."""
    source = f"# Guide\n\n## Setup\n\n{SENTENCE * 12}\n\n## Use\n\n{SENTENCE * 12}\n\n## End\n\n{SENTENCE * 12}"
    found = chunks_of_page(source, {"Guide": "guide", "Setup": "setup", "Use": "", "End": "end"})
    assert [(chunk.heading_path[-1], chunk.anchor) for chunk in found] == [
        ("Setup", "guide"),
        ("Use", "setup"),
        ("End", "end"),
    ]


@pytest.mark.parametrize("rule", ["---", "* * *", "___\n\n---"])
@pytest.mark.parametrize("overlap", [0, 40])
def test_a_thematic_break_is_no_passage(rule: str, overlap: int) -> None:
    """A rule that no neighbour has room for, or before the first heading, is left out; one within a passage stays."""
    long = (SENTENCE * 60).strip()
    found = chunks(f"{rule}\n\n# One\n\n{long}\n\n{rule}\n\n# Two\n\nLow.\n\n{rule}\n\nHigh.", overlap=overlap)
    assert [chunk.text for chunk in found if not any(map(str.isalpha, chunk.text))] == []
    assert found[-1].text == f"# Two\n\nLow.\n\n{rule}\n\nHigh."
    assert not chunks(f"{rule}\n")


def test_lines_of_dashes_in_code_are_kept() -> None:
    """A rule of a text diagram is a line of its code, whichever lines a passage begins with."""
    found = chunks("```\n" + "-----\n" * 400 + "```\n")
    assert sum(chunk.text.count("-----") for chunk in found) == 400


def test_a_heading_is_never_alone() -> None:
    """A heading goes with the beginning of what follows, even if that must be cut for it."""
    found = chunks(f"# Long\n\n{SENTENCE * 60}\n\n# Empty\n\n## Child\n\n{SENTENCE * 60}")
    assert all("fox" in chunk.text for chunk in found)


@pytest.mark.parametrize(
    ("source", "separator"),
    [
        (SENTENCE * 100, ". "),
        ("| a | b |\n|---|---|\n" + "| some words here | other words there |\n" * 100, "|\n"),
        ("- an item of the list with several words\n" * 100, "\n"),
        ("```python\n" + "value = compute(other, values)\n" * 100 + "```", "\n"),
        ("これは日本語のテキストです。" * 100, "。"),
    ],
    ids=["sentences", "rows", "items", "lines", "cjk"],
)
def test_long_blocks_are_cut_between_their_parts(source: str, separator: str) -> None:
    """Prose at sentences, tables at rows, lists at items, code at lines."""
    found = chunks(source)
    assert len(found) > 2
    for chunk in found[:-1]:
        assert source[: chunk.end_char + 1].endswith(separator) or source[: chunk.end_char].endswith(separator)


TABLE = "| hour | level |\n| --- | --- |\n"


def table(rows: int) -> str:
    return TABLE + "".join(f"| {row} | {row} centimetres above datum |\n" for row in range(rows))


def own_text(chunk: Chunk, source: str) -> str:
    return source[chunk.start_char : chunk.end_char]


@pytest.mark.parametrize("caption", ["", "Table 1: levels.\n\n"])
@pytest.mark.parametrize("overlap", [0, 20])
def test_every_passage_of_a_table_has_its_header(caption: str, overlap: int) -> None:
    """Rows stay whole; the header is repeated and counted; the caption stays with the first rows."""
    source = f"## Levels\n\n{SENTENCE * 12}\n\n{caption}{table(100)}"
    found = chunks(source, tokens=128, overlap=overlap)
    first = next(position for position, chunk in enumerate(found) if TABLE in chunk.text)
    assert own_text(found[first], source).startswith(caption + TABLE) or overlap
    for chunk in found[first + 1 :]:
        assert chunk.text == TABLE + own_text(chunk, source)
        assert own_text(chunk, source).startswith("| ")
        assert own_text(chunk, source).endswith(" |")
        assert chunk.token_count <= 128
    if not overlap:
        rows = [row for chunk in found for row in own_text(chunk, source).splitlines() if "centimetres" in row]
        assert rows == table(100).splitlines()[2:]


def test_a_header_that_would_fill_the_passages_is_not_repeated() -> None:
    """Above a third of the room it would cost more than it tells."""
    header = "| " + " | ".join(f"column number {number}" for number in range(24)) + " |\n"
    source = header + "|---" * 24 + "|\n" + ("| " + " | ".join("x" * 24) + " |\n") * 30
    found = chunks(source, tokens=128)
    assert all(chunk.text == own_text(chunk, source) for chunk in found)


def test_rows_without_a_header_are_cut_without_one() -> None:
    """A table of another kind has no line of dashes below its first row."""
    text = "".join(f"row {row} of a table in plain text\n" for row in range(100))
    document = ParsedDocument(text, (Block("table", 0, len(text) - 1),))
    found = chunk_document(document, title=None, tokens=64, overlap=0, tokenizer=bundled_tokenizer())
    assert all(chunk.text == text[chunk.start_char : chunk.end_char] for chunk in found)
    assert all(chunk.text.startswith("row ") for chunk in found)


def test_a_long_csv_has_its_header_in_every_passage() -> None:
    """CSV becomes a table, and is cut like one."""
    content = "id,name\n" + "".join(f"{n},name number {n}\n" for n in range(500))
    document = parse_csv(content.encode())
    found = chunk_document(document, title=None, tokens=128, overlap=0, tokenizer=bundled_tokenizer())
    assert all(chunk.text.startswith("| id | name |\n| --- | --- |\n| ") for chunk in found)


def test_a_list_keeps_its_lead_in() -> None:
    """The sentence before a list moves to its first items, and is repeated above the items that are cut off."""
    items = "".join(f"- item {number} of the list with several words\n  - a detail of it\n" for number in range(30))
    lead_in = "These are the steps to take:"
    for before in (f"{lead_in}\n\n", f"{SENTENCE * 10}{lead_in}\n\n", f"{SENTENCE * 10}\n\n{lead_in}\n"):
        source = f"# Guide\n\n{before}{items}"
        found = chunks(source, tokens=128)
        listed = [chunk for chunk in found if "- item" in chunk.text]
        assert len(listed) > 3
        assert all(f"{lead_in}\n" in chunk.text for chunk in listed)
        assert all(chunk.text.startswith(lead_in) for chunk in listed[1:])
        assert not any(own_text(chunk, source).startswith("  - ") for chunk in found), "an item lost its parent"


def test_a_long_paragraph_is_no_lead_in() -> None:
    """What takes more than a sixth of a passage stays where it is, and is not repeated."""
    source = f"{'word ' * 100}\n\n" + "- an item of the list with several words\n" * 60
    found = chunks(source)
    assert all(chunk.text == own_text(chunk, source) for chunk in found)


@pytest.mark.parametrize(
    "source",
    [
        f"# A\n\n{SENTENCE * 60}\n\n## End\n\n### Very end\n",
        f"# A\n\n## B\n\n### C\n\n{SENTENCE * 60}",
        f"{SENTENCE * 14}\n\n# Table\n\n{table(60)}",
        f"{SENTENCE * 14}\n\n# Code\n\n```\n" + "line = other_line\n\n" * 100 + "```\n",
        f"{SENTENCE * 14}\n\n# List\n\n" + "- item with words\n" * 100,
        "".join(f"# Heading number {n} of many\n\n" for n in range(30)) + SENTENCE * 20,
        SENTENCE * 40 + "\n\n" + "".join(f"# Heading number {n} of many\n\n" for n in range(20)),
        f"{SENTENCE * 40}\n\n# {'A long heading ' * 20}\n\n{SENTENCE * 40}",
    ],
    ids=["at the end", "several", "table", "code", "list", "many first", "many last", "long"],
)
@pytest.mark.parametrize("tokens", [128, 256])
def test_no_passage_is_headings_alone(source: str, tokens: int) -> None:
    """Wherever headings stand, some of what they head, or of what stands before, is with them."""
    document = parse_markdown(source.encode())
    assert_promises(document, chunks(source, tokens=tokens), tokens=tokens, share=1)


def test_names_of_definitions_are_headings() -> None:
    """Of a method the class stands above, of the rest of a long method its own name as well."""
    body = "        value = self.read(value, other)\n\n" * 60
    source = f"class Gauge:\n    def read(self):\n        pass\n\n    def write(self):\n{body}"
    document = parse(source.encode(), name="gauge.py", media_type="text/x-python")
    found = chunk_document(document, title="gauge.py", tokens=128, overlap=0, tokenizer=bundled_tokenizer())
    write = [chunk for chunk in found if chunk.heading_path == ("Gauge", "write")]
    assert len(write) > 3
    assert write[0].embedding_text.startswith("gauge.py > Gauge\n\n    def write(self):")
    assert all(chunk.embedding_text.startswith("gauge.py > Gauge > write\n\n") for chunk in write[1:])


def test_text_without_spaces_is_cut() -> None:
    """A word of 100,000 letters is one [UNK] to the model, but no passage."""
    found = chunks("x" * 100_000)
    assert max(len(chunk.text) for chunk in found) < 4_000
    assert sum(len(chunk.text) for chunk in found) == 100_000


def test_overlap_repeats_the_end_of_the_passage_before() -> None:
    """The repetition begins at a word, is about as long as asked, and stays in its section."""
    source = f"# One\n\n{SENTENCE * 40}\n\n# Two\n\n{SENTENCE * 40}"
    found = chunks(source, tokens=128, overlap=20)
    for before, after in pairwise(found):
        shared = before.end_char - after.start_char
        if before.heading_path == after.heading_path:
            assert 0 < bundled_tokenizer().count([source[after.start_char : before.end_char]])[0] - 2 <= 20
            assert source[after.start_char - 1].isspace()
        else:
            assert shared < 0


def test_no_overlap_by_default() -> None:
    """Spans follow each other."""
    found = chunks(SENTENCE * 100)
    assert all(before.end_char <= after.start_char for before, after in pairwise(found))


def test_huge_headings_do_not_fill_the_passages_below() -> None:
    """The prefix takes at most half of the budget."""
    found = chunks(f"# {'word ' * 2_000}\n\n{SENTENCE * 30}", title="title " * 500)
    assert all(chunk.token_count <= 256 for chunk in found)
    assert len(words_of(found[-2])) > 40


def test_pages_come_from_the_blocks() -> None:
    """A passage has the page it begins on."""
    text = f"{SENTENCE * 10}\n\n{SENTENCE * 10}\n\n{SENTENCE * 10}"
    size = len(SENTENCE * 10)
    blocks = tuple(Block("paragraph", n * (size + 2), n * (size + 2) + size, page=n + 1) for n in range(3))
    document = ParsedDocument(markdown=text, blocks=blocks)
    found = chunk_document(document, title=None, tokens=256, overlap=0, tokenizer=bundled_tokenizer())
    assert [chunk.page for chunk in found] == [1, 2, 3]


def test_hashes_tell_content_not_position() -> None:
    """A passage that moves keeps its hash; one under another heading does not."""
    alone = chunks(f"# A\n\n{SENTENCE * 6}")[0]
    moved = chunks(f"# Z\n\n{SENTENCE * 6}\n\n# A\n\n{SENTENCE * 6}")[1]
    other = chunks(f"# B\n\n{SENTENCE * 6}")[0]
    assert alone.hash == moved.hash != other.hash
    assert alone.embedding_hash == moved.embedding_hash != other.embedding_hash
    assert len(alone.hash) == len(alone.embedding_hash) == 32


def test_an_empty_document_has_no_passages() -> None:
    """No blocks, no passages."""
    assert chunks("") == []
    assert chunks("---\ntitle: only\n---\n") == []


def test_time_grows_with_length_alone() -> None:
    """Half a megabyte in a second or so a core, with and without newlines; what grows faster would take minutes."""
    documents = [parse_plain_text(text.encode()) for text in ("word " * 100_000, "a line of several words\n" * 22_500)]
    documents.append(parse_markdown(b"# heading\n" * 12_500))
    for document in documents:
        begun = time.process_time()
        chunk_document(document, title=None, tokens=256, overlap=0, tokenizer=bundled_tokenizer())
        assert time.process_time() - begun < 4
