"""Text of documents of Word 2, 6 and 95, which anydoc does not read: paragraphs, without structure."""

import struct
from dataclasses import dataclass
from typing import Final

from sourcebook.errors import FailureClass, ParseError
from sourcebook.parsing.office.legacy.word_pieces import WORD_97, lines, piece_table, shown_text, word_streams
from sourcebook.parsing.text.decode import decode

_VERSIONS: Final = frozenset({0xA5DB, 0xA5DC})
"""First numbers of a document of Word 2, and of Word 6 and 95."""
_WORD_6: Final = 0x65
_COMPLEX, _ENCRYPTED = 0x0004, 0x0100
_PARTS: Final = 7
"""Parts of the text: the main one, footnotes, headers, macros, comments, endnotes, boxes."""
_HEADERS, _MACROS = 2, 3


@dataclass(frozen=True, slots=True)
class OldText:
    """Paragraphs of a document, and those of its headers and footers."""

    paragraphs: tuple[str, ...]
    headers: tuple[str, ...]


def text_before_97(content: bytes) -> OldText | None:
    """Return the text of a document of Word 2, 6 or 95; None for any other content.

    Raises:
        ParseError: the document is protected by a password, or cut off.
    """
    (stream,) = word_streams(content, "WordDocument")
    if len(stream) < 0x50:
        return None
    kind, version = struct.unpack_from("<HH", stream)
    if kind not in _VERSIONS or version >= WORD_97:
        return None
    flags, begin, end = struct.unpack_from("<10xH12xII", stream)
    if flags & _ENCRYPTED:
        raise ParseError("it is protected by a password; save a copy without one", FailureClass.PASSWORD)
    pieces: list[tuple[int, int]] | None = [(begin, end - begin)]
    if flags & _COMPLEX and version >= _WORD_6:
        at, length = struct.unpack_from("<II", stream, 0x160) if len(stream) >= 0x168 else (0, 0)
        pieces = piece_table(stream[at : at + length])
    if pieces is None or any(at + length > len(stream) or length < 0 for at, length in pieces):
        raise ParseError(
            "the file is damaged or cut off; open it in its program or in LibreOffice and save it as .docx",
            FailureClass.CORRUPT,
        )
    text = b"".join(stream[at : at + length] for at, length in pieces)
    lengths = struct.unpack_from(f"<{_PARTS}I", stream, 0x34)
    if version < _WORD_6 or sum(lengths) > len(text):
        lengths = (len(text),)
    kept, headers, reached = [], "", 0
    for number, length in enumerate(lengths):
        part = shown_text(text[reached : reached + length].decode("latin-1"))  # a character a byte, until all is read
        reached += length
        if number == _HEADERS:
            headers = part
        elif number != _MACROS:
            kept.append(part)
    encoding = decode("\n".join([*kept, headers]).encode("latin-1")).encoding
    shown, above = (part.encode("latin-1").decode(encoding, "replace") for part in ("\n".join(kept), headers))
    return OldText(lines(shown), lines(above))
