"""Parts of a passage: sections that share it keep their headings and anchors, pages and segments their places."""

from dataclasses import replace
from itertools import pairwise

from sourcebook.chunking.chunk import Chunk
from sourcebook.chunking.chunker import chunk_document
from sourcebook.model.document import Block, ParsedDocument
from sourcebook.model.passage_part import PassagePart, part_rows, parts_of
from sourcebook.parsing.text.markdown import parse_markdown
from tests.unit.chunking.bundled_tokenizer import bundled_tokenizer

SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank. "


def cut(document: ParsedDocument, *, tokens: int = 256) -> list[Chunk]:
    return chunk_document(document, title=None, tokens=tokens, overlap=0, tokenizer=bundled_tokenizer())


def test_merged_sections_keep_their_headings_and_anchors() -> None:
    source = b"# Guide\n\n## Leave policy\n\nAsk first.\n\n## Sick leave\n\nRest.\n\n### Notes\n\nFrom a doctor.\n"
    (chunk,) = cut(parse_markdown(source))
    assert [(part.heading_path, part.anchor) for part in chunk.parts] == [
        (("Guide",), "guide"),
        (("Guide", "Leave policy"), "leave-policy"),
        (("Guide", "Sick leave"), "sick-leave"),
        (("Guide", "Sick leave", "Notes"), "notes"),
    ]
    ends = [*(part.start for part in chunk.parts[1:]), len(chunk.text)]
    texts = [chunk.text[part.start : end] for part, end in zip(chunk.parts, ends, strict=True)]
    assert [text.split("\n")[0] for text in texts] == ["# Guide", "## Leave policy", "## Sick leave", "### Notes"]


def test_a_passage_of_one_section_has_no_parts() -> None:
    assert [chunk.parts for chunk in cut(parse_markdown(f"# Guide\n\n{SENTENCE * 60}".encode()))] == [(), (), (), ()]


def test_repeated_context_is_of_the_first_part() -> None:
    """The header of a table above its later rows shifts the parts behind it."""
    rows = "".join(f"| {number} | row {number} of the table of tides |\n" for number in range(30))
    parsed = parse_markdown(f"| place | height |\n|---|---|\n{rows}\nThe moon is full.\n".encode())
    table, paragraph = parsed.blocks
    *_, last = cut(replace(parsed, blocks=(replace(table, page=1), replace(paragraph, page=2))), tokens=200)
    assert last.text.startswith("| place | height |")
    assert last.parts[0] == PassagePart(0, page=1)
    assert last.text[last.parts[1].start :] == "The moon is full."


def test_pages_and_segments_are_parts() -> None:
    lines = ["First page.", "Second page.", "Second page, too."]
    text = "\n\n".join(lines)
    starts = [text.index(line) for line in lines]
    blocks = tuple(
        Block("paragraph", start, start + len(line), page=page)
        for start, line, page in zip(starts, lines, (1, 2, 2), strict=True)
    )
    (chunk,) = cut(ParsedDocument(text, blocks))
    assert [(part.start, part.page) for part in chunk.parts] == [(0, 1), (starts[1], 2)]

    spoken = tuple(
        Block("speech", start, start + len(line), start_seconds=2.0 * place, end_seconds=2.0 * place + 1.5)
        for place, (start, line) in enumerate(zip(starts, lines, strict=True))
    )
    (chunk,) = cut(ParsedDocument(text, spoken))
    assert [(part.start, part.start_seconds, part.end_seconds) for part in chunk.parts] == [
        (starts[0], 0.0, 1.5),
        (starts[1], 2.0, 3.5),
        (starts[2], 4.0, 5.5),
    ]
    assert all(before.start < after.start for before, after in pairwise(chunk.parts))


def test_rows_keep_the_parts() -> None:
    parts = (
        PassagePart(0),
        PassagePart(12, ("Guide", "Sick leave"), "sick-leave"),
        PassagePart(40, (), None, 3),
        PassagePart(90, (), None, None, 1.5, 4.0),
    )
    assert part_rows(parts)[:2] == [[0, []], [12, ["Guide", "Sick leave"], "sick-leave"]]
    assert parts_of(part_rows(parts)) == parts
