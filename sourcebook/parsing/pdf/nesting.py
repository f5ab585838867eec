"""Refuse PDFs whose drawings contain themselves: docling-parse follows them until the process dies."""

import re
from typing import Any

from sourcebook.errors import ParseError

_DEEPEST = 30
_FORM = re.compile(rb"/Subtype\s*/Form\b")
_HOLDS_OTHERS = re.compile(rb"/XObject\s*(?:<<|\d)|/Resources\s+\d")
_FORM_OBJECT = 5
"""PDFium's number for a drawing that is placed on a page (FPDF_PAGEOBJ_FORM)."""
_MOST_VISITED = 10_000


def refuse_endless_nesting(content: bytes, document: Any) -> None:
    """Check the pages of a file in which drawings may contain drawings; other files cost a search for them.

    Args:
        content: the whole file; the dictionaries of drawings stand in it uncompressed.
        document: pypdfium2's, which has no type stubs.

    Raises:
        ParseError: drawings are nested 30 deep and more, as they are where one contains itself.
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
            raise ParseError(f"the drawings on page {index + 1} contain one another endlessly; print it to a new PDF")


def _may_nest(content: bytes) -> bool:
    """Whether the dictionary of a drawing names other drawings, or resources that may."""
    for match in _FORM.finditer(content):
        start = content.rfind(b"obj", max(0, match.start() - 2000), match.start())
        end = content.find(b"stream", match.end(), match.end() + 2000)
        if _HOLDS_OTHERS.search(content, max(start, 0), end if end > 0 else match.end() + 2000):
            return True
    return False
