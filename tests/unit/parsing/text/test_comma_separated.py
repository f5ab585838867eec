"""Delimited text becomes one table."""

import time

import pytest

from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.parse import parse


def parse_text(text: str) -> ParsedDocument:
    return parse(text.encode(), name="a.csv", media_type="text/csv")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_finds_the_delimiter(delimiter: str) -> None:
    """The delimiter is the one of comma, semicolon, tab and bar that cuts the rows most evenly."""
    text = "\n".join(delimiter.join(row) for row in (["name", "size"], ["a b", "1"], ["c", "2"]))
    assert parse_text(text).markdown == "| name | size |\n| --- | --- |\n| a b | 1 |\n| c | 2 |\n"


def test_quotes_newlines_bars_and_short_rows() -> None:
    """Each record is one row of the Markdown table, as wide as the widest."""
    document = parse_text('a,b,c\n"x, y","1\n2",p|q\nonly\n')
    assert document.markdown.splitlines()[2:] == ["| x, y | 1 2 | p\\|q |", "| only |  |  |"]
    assert [block.kind for block in document.blocks] == ["table"]


def test_commas_in_numbers_are_no_delimiters() -> None:
    """Where semicolons cut as evenly, they are what cuts."""
    assert parse_text("x;1,5;2,5\ny;1,6;2,6\n").markdown.splitlines()[2] == "| x | 1,5 | 2,5 |"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_lines_above_the_header_are_paragraphs(delimiter: str) -> None:
    """With or without delimiters of their own; the header is the table's, and its delimiter is found below them."""
    rows = (["Ship", "Captain", "Toll"], ["Skarv", '"Torkel\nVik"', "90"], ["Ruth", "Bo", "1"])
    table = "".join(delimiter.join(row) + "\n" for row in rows)
    for ending in ("", delimiter * 2):
        document = parse_text(f"Harbour office{ending}\nPrinted on 3 March{ending}\n\n{table}")
        assert [block.kind for block in document.blocks] == ["paragraph", "paragraph", "table"]
        assert document.markdown.endswith(
            "| Ship | Captain | Toll |\n| --- | --- | --- |\n| Skarv | Torkel Vik | 90 |\n| Ruth | Bo | 1 |\n"
        )


def test_a_table_too_wide_to_repeat_its_header_is_written_by_record() -> None:
    """Each value stands behind its name, below the record's first field; empty ones are not written."""
    names = ",".join(f"field number {number}" for number in range(200))
    document = parse_text(f"{names}\n" + f"Skarv,,{'x,' * 197}7\n" + f"Ruth{',' * 199}\n")
    assert [block.kind for block in document.blocks] == ["paragraph", "list", "paragraph"]
    assert document.markdown.startswith("field number 0: Skarv\n\n- field number 2: x\n")
    assert document.markdown.endswith("- field number 199: 7\n\nfield number 0: Ruth\n")


def test_excel_may_name_the_delimiter() -> None:
    """Its first line `sep=` is believed, and is no row."""
    assert parse_text("sep=|\na;b|c\n1;2|3\n").markdown.splitlines()[0] == "| a;b | c |"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "cp1252"])
def test_encodings_of_spreadsheet_programs(encoding: str) -> None:
    """Dialects of Excel and other programs are understood."""
    content = "Größe;Preis\r\nü;1\r\n".encode(encoding)
    assert parse(content, name="a.csv", media_type="text/csv").markdown.startswith("| Größe | Preis |\n| --- | --- |")


def test_long_and_ragged_files_take_no_more_than_they_hold() -> None:
    """100,000 rows; and one wide row among many short ones does not widen them all."""
    started = time.monotonic()
    assert parse_text("a,b,c\n" + "1,two,3.5\n" * 100_000).markdown.count("\n") == 100_002
    assert len(parse_text("x," * 50_000 + "\n" + "a\n" * 50_000).markdown) < 2_000_000
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("text", ['a,"never closed\n1,2', "one column\nonly", "a,b\n1,\x00\n"])
def test_odd_files_are_read(text: str) -> None:
    """Text that is barely CSV is still read."""
    assert parse_text(text).blocks
