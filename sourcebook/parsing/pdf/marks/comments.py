"""Comments on a page: sticky notes, and what is said of marked words."""

import re
from math import isfinite
from textwrap import shorten
from typing import Any

from pypdfium2 import raw  # type: ignore[import-untyped] # has no stubs

from sourcebook.model.document import Box
from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.marks.places import place_of
from sourcebook.parsing.pdf.marks.texts import contents, entry, pdfium_text
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.remarks import remark_sentence

_ON_TEXT = frozenset(
    {raw.FPDF_ANNOT_HIGHLIGHT, raw.FPDF_ANNOT_UNDERLINE, raw.FPDF_ANNOT_SQUIGGLY, raw.FPDF_ANNOT_STRIKEOUT}
)
_LONGEST_QUOTE = 120
"""Letters of the marked words that a comment names."""
_MOST_MARKED = 50
"""Marked lines that are looked at."""
_MOST_REPLIES = 20
"""Answers to answers that are followed."""
_DAY = re.compile(r"D:(\d{4})(\d\d)(\d\d)")


def comment(annotation: Any, kind: int, text: Any) -> str:
    """Return a comment with its author and day, "" for an annotation without one."""
    said, about = contents(annotation), ""
    if kind in _ON_TEXT and (said or kind == raw.FPDF_ANNOT_STRIKEOUT):
        about = _marked_text(annotation, text)
        said = said or ("struck out" if about else "")
    if kind == raw.FPDF_ANNOT_FILEATTACHMENT and (file := raw.FPDFAnnot_GetFileAttachment(annotation)):
        name = pdfium_text(lambda buffer, size: raw.FPDFAttachment_GetName(file, buffer, size))
        said = "" if said == name else said
    if not said:
        return ""
    found = _DAY.match(entry(annotation, "M") or entry(annotation, "CreationDate"))
    day = "-".join(found.groups()) if found else ""
    return remark_sentence(said, author=entry(annotation, "T"), day=day, about=about)


def _marked_text(annotation: Any, text: Any) -> str:
    """Return the words that a highlight or a line through them marks, cut to `_LONGEST_QUOTE` letters."""
    words: list[str] = []
    points = raw.FS_QUADPOINTSF()
    for index in range(min(raw.FPDFAnnot_CountAttachmentPoints(annotation), _MOST_MARKED)):
        if raw.FPDFAnnot_GetAttachmentPoints(annotation, index, points):
            xs = sorted((points.x1, points.x2, points.x3, points.x4))
            ys = sorted((points.y1, points.y2, points.y3, points.y4))
            quarter = (ys[-1] - ys[0]) / 4
            if isfinite(quarter + xs[0] + xs[-1]):
                words += text.get_text_bounded(xs[0], ys[0] + quarter, xs[-1], ys[-1] - quarter).split()
    return shorten(clean(" ".join(words)), _LONGEST_QUOTE, placeholder="…")


def answered(opened: Any, annotation: Any, index: int, page: DecodedPage) -> tuple[int, Box]:
    """Return the index and place of the annotation that one answers, or its own."""
    chain = [annotation]
    try:
        while len(chain) < _MOST_REPLIES and (target := raw.FPDFAnnot_GetLinkedAnnot(chain[-1], b"IRT")):
            chain.append(target)
        first = index if len(chain) == 1 else raw.FPDFPage_GetAnnotIndex(opened, chain[-1])
        return first, place_of(chain[-1], opened, page)
    finally:
        for target in chain[1:]:
            raw.FPDFPage_CloseAnnot(target)
