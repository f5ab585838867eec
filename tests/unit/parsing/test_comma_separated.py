"""Delimited text becomes one table."""

import pytest

from sourcebook.parsing.parse import parse
from sourcebook.parsing.types import ParsedDocument


def parse_text(text: str) -> ParsedDocument:
    return parse(text.encode(), name="a.csv", media_type="text/csv")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_finds_the_delimiter(delimiter: str) -> None:
    """Comma, semicolon, tab and bar are told by how evenly they cut the rows."""
    text = "\n".join(delimiter.join(row) for row in (["name", "size"], ["a b", "1"], ["c", "2"]))
    assert parse_text(text).markdown == "| name | size |\n| --- | --- |\n| a b | 1 |\n| c | 2 |\n"


def test_quotes_newlines_bars_and_short_rows() -> None:
    """Each record is one row of the Markdown table, as wide as the widest."""
    document = parse_text('a,b,c\n"x, y","1\n2",p|q\nonly\n')
    assert document.markdown.splitlines()[2:] == ["| x, y | 1 2 | p\\|q |", "| only |  |  |"]
    assert [block.kind for block in document.blocks] == ["table"]


@pytest.mark.parametrize("text", ['a,"never closed\n1,2', "one column\nonly", "a,b\n1,\x00\n"])
def test_odd_files_are_read(text: str) -> None:
    """What is barely CSV is still text."""
    assert parse_text(text).blocks
