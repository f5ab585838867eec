"""Documents of Word 97 to 2003 without the characters that Word does not show: deleted, moved away, or hidden ones."""

from io import BytesIO
from typing import Final

from olefile import OleFileIO  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.parsing.office.legacy.word_97_runs import runs
from sourcebook.parsing.office.legacy.word_pieces import document_97, lines, shown_text

_DELETED, _HIDDEN = 0x0800, 0x083C
"""Properties of characters: deleted while changes were tracked, and the font's property Hidden."""
_NO_SIGN: Final = 0x1F
"""Hyphen that is shown only where a line ends, which readers leave out."""
_KEPT: Final = frozenset({*range(9), 0x13, 0x14, 0x15})
"""Signs that pictures, notes, cells and fields hang on."""


def shown_document(content: bytes) -> tuple[bytes, list[str]]:
    """Return a document with an invisible sign for each character that is not shown, and the hidden texts.

    Moved text is deleted in its old place; a document of another format is returned as it is.
    """
    document = document_97(content)
    if document is None:
        return content, []
    stream = bytearray(document.stream)
    hidden: list[str] = []
    for start, end, properties in runs(document):
        is_deleted = properties.get(_DELETED) == 1
        for place, length, width in document.pieces if is_deleted or properties.get(_HIDDEN) == 1 else ():
            first, last = place + max(start - place, 0) // width * width, min(end, place + length * width)
            if not is_deleted:
                hidden.append(stream[first:last].decode("cp1252" if width == 1 else "utf-16-le", "replace"))
            for at in range(first, last, width):
                sign = int.from_bytes(stream[at : at + width], "little")
                if sign not in _KEPT and (sign >= 0x20 or is_deleted):
                    stream[at : at + width] = _NO_SIGN.to_bytes(width, "little")
    if stream == document.stream:
        return content, []
    copy = BytesIO(content)
    with OleFileIO(copy, write_mode=True) as ole:
        ole.write_stream("WordDocument", bytes(stream))
        return copy.getvalue(), [*lines(shown_text("".join(hidden)))]
