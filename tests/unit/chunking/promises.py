"""What every passage of every document promises."""

from collections.abc import Sequence

from sourcebook.chunking.chunk import Chunk, uncovered_characters
from sourcebook.model.document import ParsedDocument
from tests.unit.chunking.bundled_tokenizer import bundled_tokenizer


def repeated_context(chunk: Chunk) -> str:
    """Return the text that a passage repeats above its own: as long as its text is longer than its span."""
    return chunk.text[: len(chunk.text) - (chunk.end_char - chunk.start_char)]


def assert_promises(document: ParsedDocument, chunks: Sequence[Chunk], *, tokens: int, share: int = 2) -> None:
    """Check places, repeated context, token counts, order and completeness, and that no heading stands alone.

    Headings may, where the document holds nothing else, or there are more together than a `share` of a passage.
    """
    text = document.markdown
    reached = -1
    for ordinal, chunk in enumerate(chunks):
        repeated = repeated_context(chunk)
        assert chunk.ordinal == ordinal
        assert chunk.text == repeated + text[chunk.start_char : chunk.end_char]
        assert text[chunk.start_char : chunk.end_char].strip()
        assert not repeated or (
            repeated.endswith("\n") and 0 <= text.find(repeated) <= chunk.start_char - len(repeated)
        )
        assert chunk.embedding_text.endswith(chunk.text)
        assert chunk.start_char > reached
        assert chunk.token_count <= min(tokens, bundled_tokenizer().max_tokens)
        reached = chunk.start_char
        _assert_parts(document, chunk)
    assert bundled_tokenizer().count([chunk.embedding_text for chunk in chunks]) == [c.token_count for c in chunks]
    spans = [(chunk.start_char, chunk.end_char) for chunk in chunks]
    assert uncovered_characters(text, document.blocks, spans) == 0
    if any(block.kind != "heading" for block in document.blocks):
        for chunk in chunks:
            alone = _headings_alone(document, chunk)
            assert bundled_tokenizer().count([alone])[0] * share > tokens or not alone, chunk


def _assert_parts(document: ParsedDocument, chunk: Chunk) -> None:
    """Check that the parts of a passage begin with it and with blocks of the document, in reading order."""
    if not chunk.parts:
        return
    shift = chunk.start_char - len(repeated_context(chunk))
    first, *others = [part.start for part in chunk.parts]
    assert first == 0
    assert {shift + start for start in others} <= {block.start for block in document.blocks}
    assert [first, *others] == sorted({first, *others})


def _headings_alone(document: ParsedDocument, chunk: Chunk) -> str:
    """Return the run of headings that a passage is a part of, "" where it holds anything else."""
    blocks = document.blocks
    touched = [n for n, block in enumerate(blocks) if block.start < chunk.end_char and block.end > chunk.start_char]
    if not touched or any(blocks[number].kind != "heading" for number in touched):
        return ""
    first, last = touched[0], touched[-1]
    while first > 0 and blocks[first - 1].kind == "heading":
        first -= 1
    while last + 1 < len(blocks) and blocks[last + 1].kind == "heading":
        last += 1
    return document.markdown[blocks[first].start : blocks[last].end]
