"""A check for PDFs whose drawings contain themselves, which docling-parse follows until the process dies."""

import re
from typing import Any

from sourcebook.errors import FailureClass, ParseError

_DEEPEST = 30
"""Nesting depth of drawings at which a file is refused."""
_FORM = re.compile(rb"/Subtype\s*/Form\b")
_HOLDS_OTHERS = re.compile(rb"/XObject\s*(?:<<|\d)|/Resources\s+\d")
_FORM_OBJECT = 5
"""PDFium's type of a drawing on a page (FPDF_PAGEOBJ_FORM)."""
_MOST_VISITED = 10_000
"""Objects of a page that are checked."""


def refuse_endless_nesting(content: bytes, document: Any) -> None:
    """Check the pages of a file whose drawings may contain drawings; in other files, only the bytes are searched.

    Args:
        content: the whole file, in which the dictionaries of drawings are not compressed.
        document: pypdfium2's document, which has no type stubs.

    Raises:
        ParseError: drawings are nested 30 deep or deeper, as with a drawing that contains itself.
    """
    if not _may_nest(content):
        return
    for index in range(len(document)):
        try:
            page = document[index]
        except RuntimeError:
            continue
        try:
            deepest = 0
            for visited, one in enumerate(page.get_objects(filter=[_FORM_OBJECT], max_depth=_DEEPEST)):
                deepest = max(deepest, one.level)
                if visited > _MOST_VISITED:
                    break
        finally:
            page.close()
        if deepest >= _DEEPEST - 1:
            raise ParseError(
                f"the drawings on page {index + 1} contain one another endlessly; print it to a new PDF",
                FailureClass.CORRUPT,
            )


def _may_nest(content: bytes) -> bool:
    """Tell whether the dictionary of a drawing refers to other drawings, or to resources that may contain some."""
    for match in _FORM.finditer(content):
        start = content.rfind(b"obj", max(0, match.start() - 2000), match.start())
        end = content.find(b"stream", match.end(), match.end() + 2000)
        if _HOLDS_OTHERS.search(content, max(start, 0), end if end > 0 else match.end() + 2000):
            return True
    return False
