"""Plain text has paragraphs and nothing else."""

import time

from sourcebook.parsing.parse import parse
from sourcebook.parsing.text.plain_text import parse_plain_text
from tests.unit.parsing.covering import assert_blocks_cover, texts


def test_paragraphs_end_at_blank_lines() -> None:
    """Markdown in a text file is not interpreted, and there is no title."""
    document = parse_plain_text(b"# no heading\nline two\n \n\n  indented\r\n\r\n- no list\n")
    assert texts(document) == ["# no heading\nline two", "indented", "- no list"]
    assert {block.kind for block in document.blocks} == {"paragraph"}
    assert document.title is None


def test_empty_and_blank_files_have_no_blocks() -> None:
    """The caller sees an empty document, whatever its type."""
    for content in (b"", b" \n\t\r\n", "\n \n".encode("utf-16")):
        for media_type in ("text/plain", "text/markdown", "text/html", "application/json", "application/pdf"):
            if content.startswith(b"\xff\xfe") and media_type in {"text/html", "application/pdf"}:
                continue
            document = parse(content, name="a", media_type=media_type)
            assert (document.markdown, document.blocks) == ("", ())


def test_ten_megabytes_are_read_in_seconds() -> None:
    """Time grows with the length alone, with and without newlines."""
    for content in (b"word " * 2_000_000, b"x" * 10_000_000, b"line of words\n" * 700_000, b"\n" * 10_000_000 + b"x"):
        begun = time.process_time()
        assert_blocks_cover(parse_plain_text(content))
        assert time.process_time() - begun < 5
