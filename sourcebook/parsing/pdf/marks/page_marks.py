"""Form fields and annotations of a page: text that lies on the page and is no part of its content.

docling-parse paints what the file keeps of their appearance among the words of the page, and PDFium's text has none of
them. So both are compared without these words, and the text is taken from the fields and annotations themselves.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pypdfium2 import raw  # type: ignore[import-untyped] # has no stubs

from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.layout.page_parts import Field, Remark
from sourcebook.parsing.pdf.marks.comments import answered, comment
from sourcebook.parsing.pdf.marks.fields import field_or_note
from sourcebook.parsing.pdf.marks.places import place_in_file, place_of
from sourcebook.parsing.pdf.presentation_forms import as_letters
from sourcebook.parsing.pdf.words import Word

_MOST = 10_000
"""Annotations of a page that are read."""
_UNSEEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_SILENT = frozenset({raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP})
_WITHOUT_REMARK = frozenset({raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_WATERMARK})
_THINNEST = 0.5
"""Width or height up to which a field cannot be seen, in points."""
_BAND = 24
"""Height of the bands in which rectangles are looked up, in points."""


@dataclass(slots=True)
class PageMarks:
    """Fields, notes and comments of a page."""

    fields: list[Field] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    unseen: list[Field] = field(default_factory=list)
    """Fields and texts that no viewer shows."""
    has_files: bool = False
    """Whether files are attached to places of the page."""

    def without_appearances(self, words: Sequence[Word], page: DecodedPage, opened: Any, text: Any) -> Sequence[Word]:
        """Return the words of the page's content; those that are only painted by a mark become its text.

        Args:
            words: words of docling-parse.
            page: the decoded page.
            opened: PDFium's page.
            text: PDFium's text of the page.
        """
        marks = [*self.fields, *self.unseen]
        if not marks:
            return words
        bands: dict[int, list[int]] = defaultdict(list)
        for place, mark in enumerate(marks):
            for band in range(int(mark.top // _BAND), int(mark.bottom // _BAND) + 1):
                bands[band].append(place)
        kept: list[Word] = []
        painted: dict[int, list[str]] = defaultdict(list)
        before: int | None = None
        for word in words:
            near = bands.get(int(word.middle // _BAND), ())
            # A text that is too long for its field runs over the edge.
            before = next((one for one in near if _holds(marks[one], word)), before)
            if before is None or _is_content(word, opened, page, text):
                kept.append(word)
                before = None
            else:
                painted[before].append(word.text)
        for place, texts in painted.items():
            if place < len(self.fields) and marks[place].kind != "tick" and not marks[place].value:
                self.fields[place] = replace(marks[place], value=" ".join(texts))
        return kept

    def finished(self) -> list[Field]:
        """Return the fields, and the notes that have a text; that of a stamp may be its name alone."""
        named = (replace(one, value=one.name) if one.kind == "note" and not one.value else one for one in self.fields)
        return [one for one in named if one.value or one.kind != "note"]

    @property
    def unseen_words(self) -> int:
        """Number of words that no viewer shows."""
        return sum(len(mark.value.split()) for mark in self.unseen if mark.kind != "tick")


def page_marks(opened: Any, text: Any, form: Any, page: DecodedPage) -> PageMarks:
    """Return the form fields and annotations of a page.

    Args:
        opened: PDFium's page.
        text: PDFium's text of the page.
        form: PDFium's handle of the document's form; None without one.
        page: the decoded page.
    """
    found = PageMarks()
    remarks: list[tuple[int, int, Remark]] = []
    for index in range(min(raw.FPDFPage_GetAnnotCount(opened), _MOST)):
        annotation = raw.FPDFPage_GetAnnot(opened, index)
        if not annotation:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(annotation)
            if kind in _SILENT:
                continue
            found.has_files |= kind == raw.FPDF_ANNOT_FILEATTACHMENT
            where = place_of(annotation, opened, page)
            if (mark := field_or_note(annotation, kind, form, where)) is not None:
                seen = min(mark.width, mark.height) > _THINNEST and not raw.FPDFAnnot_GetFlags(annotation) & _UNSEEN
                (found.fields if seen else found.unseen).append(mark)
            if kind not in _WITHOUT_REMARK and (sentence := comment(annotation, kind, text)):
                first, where = answered(opened, annotation, index, page)
                remarks.append((first, index if first != index else -1, Remark(*where, sentence)))
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
    found.remarks = [remark for *_, remark in sorted(remarks, key=lambda one: one[:2])]
    return found


def _holds(mark: Field, word: Word) -> bool:
    return mark.left < word.right and word.left < mark.right and mark.top <= word.middle <= mark.bottom


def _is_content(word: Word, opened: Any, page: DecodedPage, text: Any) -> bool:
    """Tell whether PDFium has a word at its place, too, so that the page's own content paints it."""
    across, down = (word.width / 4, 0.0) if word.angle % 180 else (0.0, word.height / 4)
    first = place_in_file(opened, page, word.left + across, word.top + down)
    second = place_in_file(opened, page, word.right - across, word.bottom - down)
    (left, right), (bottom, top) = map(sorted, zip(first, second, strict=True))
    found = as_letters("".join(text.get_text_bounded(left, bottom, right, top).split()))
    own = as_letters(word.text)
    return bool(found) and (word.unmapped or own in found or found in own)
