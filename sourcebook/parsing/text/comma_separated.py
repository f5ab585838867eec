"""CSV and TSV files as one Markdown table whose header is the first row."""

import csv
import io
import re

from sourcebook.model.document import Block, ParsedDocument
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.markdown_writing import markdown_table

_DELIMITERS = ";\t|,"
_HINT = re.compile(r"sep=(.)\n", re.IGNORECASE)
"""First line by which a file states its delimiter to Excel."""
_SAMPLE_LINES = 20
"""Lines by which the delimiter is chosen."""
_LONGEST_FIELD = 16 * 1024 * 1024
"""Characters of the longest field that is read."""


def parse_csv(content: bytes) -> ParsedDocument:
    """Parse delimited text.

    The delimiter is a comma, semicolon, tab or bar: the one that gives most of the first rows the same width.
    """
    decoded = decode(content)
    table = markdown_table(read_rows(decoded.text))
    blocks = (Block("table", 0, len(table)),) if table else ()
    return ParsedDocument(
        markdown=f"{table}\n" if table else "",
        blocks=blocks,
        language=detect_language(table, blocks),
        metadata={"encoding": decoded.encoding},
    )


def read_rows(text: str) -> list[list[str]]:
    """Return the rows of delimited text that have a filled cell, its header first."""
    hint = _HINT.match(text)
    if hint:
        text = text[hint.end() :]
    csv.field_size_limit(_LONGEST_FIELD)
    rows = csv.reader(io.StringIO(text), delimiter=hint[1] if hint else _delimiter(text))
    return [row for row in rows if any(cell.strip() for cell in row)]


def _delimiter(text: str) -> str:
    sample = io.StringIO("\n".join(text[:65_536].split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES]))

    def evenness(delimiter: str) -> tuple[int, bool, int]:
        sample.seek(0)
        widths = [len(row) for row in csv.reader(sample, delimiter=delimiter) if row]
        width = widths[0] if widths else 1
        even = sum(other == width for other in widths) if width > 1 else 0
        return even, delimiter != ",", width  # commas also stand within numbers and sentences

    return max(_DELIMITERS, key=evenness)
