"""CSV and TSV files: their tables, and the lines above and below them."""

import csv
import io
import re
from collections import Counter

from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.markdown_writing import write_pieces
from sourcebook.parsing.text.table_pieces import table_pieces
from sourcebook.parsing.text.tables_in_rows import tables_in

_DELIMITERS = ";\t|,"
_HINT = re.compile(r'"?sep=(.)"?\n', re.IGNORECASE)
"""First line by which a file states its delimiter to Excel."""
_SAMPLE_LINES = 200
"""Lines by which the delimiter is chosen."""
_LONGEST_FIELD = 16 * 1024 * 1024
"""Characters of the longest field that is read."""


def parse_csv(content: bytes) -> ParsedDocument:
    """Parse delimited text.

    The delimiter is a comma, semicolon, tab or bar: the one that gives most of the first rows the same width.
    """
    decoded = decode(content)
    written = write_pieces(table_pieces(tables_in(read_rows(decoded.text))))
    return ParsedDocument(
        markdown=written.markdown,
        blocks=written.blocks,
        language=detect_language(written.markdown, written.blocks),
        metadata={"encoding": decoded.encoding},
    )


def read_rows(text: str) -> list[list[str]]:
    """Return the rows of delimited text, blank ones included."""
    hint = _HINT.match(text)
    if hint:
        text = text[hint.end() :]
    csv.field_size_limit(_LONGEST_FIELD)
    return list(csv.reader(io.StringIO(text), delimiter=hint[1] if hint else _delimiter(text)))


def _delimiter(text: str) -> str:
    sample = io.StringIO("\n".join(text[:65_536].split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES]))

    def evenness(delimiter: str) -> tuple[int, bool, int]:
        sample.seek(0)
        widths = Counter(len(row) for row in csv.reader(sample, delimiter=delimiter) if len(row) > 1)
        even, width = max(((number, width) for width, number in widths.items()), default=(0, 1))
        return even, delimiter != ",", width  # commas also stand within numbers and sentences

    return max(_DELIMITERS, key=evenness)
