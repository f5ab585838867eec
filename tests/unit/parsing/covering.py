"""The promise every parser keeps."""

from sourcebook.model.document import ParsedDocument


def assert_blocks_cover(document: ParsedDocument, *, start: int = 0, end: int | None = None) -> None:
    """Blocks are in order, do not overlap, and leave out only white space."""
    text = document.markdown
    reached = start
    for block in document.blocks:
        assert reached <= block.start < block.end <= len(text)
        assert not text[reached : block.start].strip()
        reached = block.end
    assert not text[reached : len(text) if end is None else end].strip()


def texts(document: ParsedDocument) -> list[str]:
    return [document.markdown[block.start : block.end] for block in document.blocks]
