"""Parts of a document of Word 97 to 2003 beside its running text, where anydoc leaves them out."""

import struct
from dataclasses import dataclass
from typing import Final

from sourcebook.parsing.office.legacy.word_pieces import document_97, letters_of, lines, shown_text

_PARTS: Final = 8
"""Parts of the text: the main one, footnotes, headers, macros, comments, endnotes, boxes, boxes in headers."""
_KEPT, _HEADERS = (1, 4, 5, 6), (2, 7)


@dataclass(frozen=True, slots=True)
class OtherParts:
    """Paragraphs of notes, comments and boxes, and those of headers and footers."""

    kept: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()


def parts_beside(content: bytes, markdown: str) -> OtherParts:
    """Return the paragraphs of a document beside its running text that its Markdown does not hold.

    Args:
        content: the whole file.
        markdown: its Markdown; letters and digits alone are compared.
    """
    document = document_97(content)
    lengths = () if document is None else struct.unpack_from(f"<{_PARTS}I", document.stream, 0x4C)
    if document is None or not any(lengths[1:]):
        return OtherParts()
    text = "".join(_piece(document.stream, *piece) for piece in document.pieces)
    held = letters_of(markdown)

    def missing(numbers: tuple[int, ...]) -> tuple[str, ...]:
        parts = (text[sum(lengths[:number]) : sum(lengths[: number + 1])] for number in numbers)
        found = (line for part in parts for line in lines(shown_text(part)))
        return tuple(line for line in dict.fromkeys(found) if (letters := letters_of(line)) and letters not in held)

    return OtherParts(missing(_KEPT), missing(_HEADERS))


def _piece(stream: bytes, start: int, count: int, width: int) -> str:
    """Return the text of a piece, as long as the table says: what is cut off is blank."""
    return stream[start : start + width * count].decode("cp1252" if width == 1 else "utf-16-le", "replace").ljust(count)
