"""Passages follow the document's structure and fit the model."""

import time
from itertools import pairwise

import pytest

from sourcebook.chunking.chunk import Chunk
from sourcebook.chunking.chunker import chunk_document
from sourcebook.parsing.markdown import parse_markdown
from sourcebook.parsing.plain_text import parse_plain_text
from sourcebook.parsing.types import Block, ParsedDocument

from .bundled_tokenizer import bundled_tokenizer

SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank. "


def chunks(markdown: str, *, title: str | None = None, tokens: int = 256, overlap: int = 0) -> list[Chunk]:
    document = parse_markdown(markdown.encode())
    return chunk_document(document, title=title, tokens=tokens, overlap=overlap, tokenizer=bundled_tokenizer())


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
    """Two megabytes in a second or so a core, with and without newlines."""
    documents = [parse_plain_text(text.encode()) for text in ("word " * 400_000, "a line of several words\n" * 90_000)]
    documents.append(parse_markdown(b"# heading\n" * 50_000))
    for document in documents:
        begun = time.process_time()
        chunk_document(document, title=None, tokens=256, overlap=0, tokenizer=bundled_tokenizer())
        assert time.process_time() - begun < 15
