"""Form fields and annotations of a page: text that lies on the page and is no part of its content.

docling-parse paints what the file keeps of their appearance among the words of the page, and PDFium's text has none of
them. So both are compared without these words, and the text is taken from the fields and annotations themselves.
"""

import ctypes
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import isfinite
from textwrap import shorten
from typing import Any

from pypdfium2 import raw  # type: ignore[import-untyped] # has no stubs

from sourcebook.model.document import Box
from sourcebook.parsing.pdf.decoded_pages import DecodedPage, Point
from sourcebook.parsing.pdf.layout.page_parts import Field, Remark
from sourcebook.parsing.pdf.presentation_forms import as_letters
from sourcebook.parsing.pdf.words import Word
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.remarks import remark_sentence

_MOST = 10_000
"""Annotations of a page that are read."""
_LONGEST = 2_000_000
"""Bytes of a text that is read."""
_MOST_REPLIES = 20
"""Answers to answers that are followed."""
_UNSEEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW | raw.FPDF_ANNOT_FLAG_INVISIBLE
_PASSWORD = 1 << 13
_NOTES = frozenset({raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP, raw.FPDF_ANNOT_WATERMARK})
_SILENT = frozenset({raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP})
_ON_TEXT = frozenset(
    {raw.FPDF_ANNOT_HIGHLIGHT, raw.FPDF_ANNOT_UNDERLINE, raw.FPDF_ANNOT_SQUIGGLY, raw.FPDF_ANNOT_STRIKEOUT}
)
_LONGEST_QUOTE = 120
"""Letters of the marked words that a comment names."""
_MOST_MARKED = 50
"""Marked lines that are looked at."""
_WITHOUT_REMARK = frozenset({raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_WATERMARK})
_TICKS = frozenset({raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON})
_CHOICES = frozenset({raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX})
_BY_NAME = {
    "Tx": raw.FPDF_FORMFIELD_TEXTFIELD,
    "Ch": raw.FPDF_FORMFIELD_COMBOBOX,
    "Btn": raw.FPDF_FORMFIELD_CHECKBOX,
    "Sig": raw.FPDF_FORMFIELD_SIGNATURE,
}
_THINNEST = 0.5
"""Width or height up to which a field cannot be seen, in points."""
_STEPS = 100
"""Parts of a point to which places on a rotated page are computed."""
_BAND = 24
"""Height of the bands in which rectangles are looked up, in points."""
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_INDEX = re.compile(r"\[\d+\]$")
_DAY = re.compile(r"D:(\d{4})(\d\d)(\d\d)")
_STAMP = re.compile(r"(?:SB|SH|#)?((?:[A-Z][a-z]+)+)")
"""Name of a stamp that says what it shows, such as `SBNotApproved`."""
_BLANK = re.compile(r"(?:_{2,}|\.{4,}|…{2,})$")
_TAG = re.compile(r"<[^>]*>")


@dataclass(slots=True)
class PageMarks:
    """What lies on a page."""

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
            where = _where(annotation, opened, page)
            if (mark := _mark(annotation, kind, form, where)) is not None:
                seen = min(mark.width, mark.height) > _THINNEST and not raw.FPDFAnnot_GetFlags(annotation) & _UNSEEN
                (found.fields if seen else found.unseen).append(mark)
            if kind not in _WITHOUT_REMARK and (sentence := _remark(annotation, kind, text)):
                first, where = _answered(opened, annotation, index, page)
                remarks.append((first, index if first != index else -1, Remark(*where, sentence)))
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
    found.remarks = [remark for *_, remark in sorted(remarks, key=lambda one: one[:2])]
    return found


def without_frames(shapes: Sequence[Sequence[Point]], fields: Sequence[Field]) -> Sequence[Sequence[Point]]:
    """Return the drawn shapes without those of fields: frames, and marks of check boxes and radio buttons."""
    if not fields:
        return shapes
    ordered = sorted(fields, key=lambda one: one.left)
    widest = max(one.width for one in ordered)

    def is_of_field(points: Sequence[Point]) -> bool:
        left, right = min(x for x, _ in points), max(x for x, _ in points)
        top, bottom = min(y for _, y in points), max(y for _, y in points)
        near = ordered[bisect_left(ordered, left - widest - 1, key=lambda one: one.left) :]
        return any(
            right <= one.right + 1 and one.top - 1 <= top and bottom <= one.bottom + 1
            for one in takewhile(lambda one: one.left - 1 <= left, near)
        )

    return [points for points in shapes if not points or not is_of_field(points)]


def without_blanks(words: Sequence[Word], fields: Sequence[Field]) -> Sequence[Word]:
    """Return the words without the underscores and dots that are printed where a field is."""
    if not fields:
        return words
    bands: dict[int, list[Field]] = defaultdict(list)
    for one in fields:
        for band in {int(one.top // _BAND), int(one.bottom // _BAND)}:
            bands[band].append(one)
    kept: list[Word] = []
    for word in words:
        blank = _BLANK.search(word.text)
        near = bands.get(int(word.middle // _BAND), ()) if blank else ()
        if blank is None or not any(one.left < word.right and word.left < one.right for one in near):
            kept.append(word)
        elif blank.start() > 0:
            share = blank.start() / len(word.text)
            kept.append(replace(word, text=word.text[: blank.start()], right=word.left + share * word.width))
    return kept


def _mark(annotation: Any, kind: int, form: Any, where: Box) -> Field | None:
    if kind in _NOTES:
        if kind != raw.FPDF_ANNOT_STAMP:
            return Field(*where, "note", _contents(annotation))
        named = _STAMP.fullmatch(_string(annotation, "Name"))
        return Field(*where, "note", name=_CAPITAL.sub(" ", named[1]) if named else "")
    if kind != raw.FPDF_ANNOT_WIDGET:
        return None
    known = raw.FPDFAnnot_GetFormFieldType(form, annotation) if form else raw.FPDF_FORMFIELD_UNKNOWN
    listed = known > raw.FPDF_FORMFIELD_UNKNOWN
    if not listed:  # the form does not list it, and a viewer shows it all the same
        form, known = None, _BY_NAME.get(_string(annotation, "FT"), raw.FPDF_FORMFIELD_UNKNOWN)
    if known in (raw.FPDF_FORMFIELD_UNKNOWN, raw.FPDF_FORMFIELD_PUSHBUTTON):
        return None

    def fact(read: Any, key: str) -> str:
        if form is None:
            return _string(annotation, key)
        return _text(lambda buffer, size: read(form, annotation, buffer, size))

    full = fact(raw.FPDFAnnot_GetFormFieldName, "T")
    name = fact(raw.FPDFAnnot_GetFormFieldAlternateName, "TU") or _last_part(full)
    if known in _TICKS:
        # Programs that fill in forms set the value alone, and viewers that tick a box set its state.
        on = any(_string(annotation, key) not in ("", "Off") for key in ("AS", "V"))
        return Field(*where, "tick", fact(raw.FPDFAnnot_GetFormFieldExportValue, "AS"), name, full, on=on)
    value = "" if known == raw.FPDF_FORMFIELD_SIGNATURE else fact(raw.FPDFAnnot_GetFormFieldValue, "V")
    if listed and known in _CHOICES:
        value = _chosen(form, annotation) or value
    elif listed and raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD and value:
        value = "(hidden)"
    return Field(*where, "text", value, name, full)


def _last_part(name: str) -> str:
    return _INDEX.sub("", name.rpartition(".")[2]).replace("_", " ").strip()


def _chosen(form: Any, annotation: Any) -> str:
    """Return the labels of the chosen options; the field's value may be a code for one of them."""

    def label(option: int) -> str:
        return _text(lambda buffer, size: raw.FPDFAnnot_GetOptionLabel(form, annotation, option, buffer, size))

    options = range(min(raw.FPDFAnnot_GetOptionCount(form, annotation), _MOST))
    return ", ".join(label(one) for one in options if raw.FPDFAnnot_IsOptionSelected(form, annotation, one))


def _remark(annotation: Any, kind: int, text: Any) -> str:
    """Return a comment with its author and day, "" for an annotation without one."""
    said, about = _contents(annotation), ""
    if kind in _ON_TEXT and (said or kind == raw.FPDF_ANNOT_STRIKEOUT):
        about = _marked_text(annotation, text)
        said = said or ("struck out" if about else "")
    if kind == raw.FPDF_ANNOT_FILEATTACHMENT and (file := raw.FPDFAnnot_GetFileAttachment(annotation)):
        name = _text(lambda buffer, size: raw.FPDFAttachment_GetName(file, buffer, size))
        said = "" if said == name else said
    if not said:
        return ""
    found = _DAY.match(_string(annotation, "M") or _string(annotation, "CreationDate"))
    day = "-".join(found.groups()) if found else ""
    return remark_sentence(said, author=_string(annotation, "T"), day=day, about=about)


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


def _answered(opened: Any, annotation: Any, index: int, page: DecodedPage) -> tuple[int, Box]:
    """Return the index and place of the annotation that one answers, or its own."""
    chain = [annotation]
    try:
        while len(chain) < _MOST_REPLIES and (target := raw.FPDFAnnot_GetLinkedAnnot(chain[-1], b"IRT")):
            chain.append(target)
        first = index if len(chain) == 1 else raw.FPDFPage_GetAnnotIndex(opened, chain[-1])
        return first, _where(chain[-1], opened, page)
    finally:
        for target in chain[1:]:
            raw.FPDFPage_CloseAnnot(target)


def _where(annotation: Any, opened: Any, page: DecodedPage) -> Box:
    """Return the part of the page that an annotation covers, as a viewer shows it."""
    found = raw.FS_RECTF()
    corners = (0.0, 0.0), (0.0, 0.0)
    if raw.FPDFAnnot_GetRect(annotation, found) and isfinite(found.left + found.right + found.top + found.bottom):
        corners = _shown(opened, page, found.left, found.top), _shown(opened, page, found.right, found.bottom)
    xs, ys = zip(*corners, strict=True)
    left, right = (min(max(x, 0.0), page.width) for x in sorted(xs))
    top, bottom = (min(max(y, 0.0), page.height) for y in sorted(ys))
    return left, top, right, bottom


def _shown(opened: Any, page: DecodedPage, x: float, y: float) -> Point:
    """Return where a viewer shows a place of the file, which is turned for a rotated page."""
    if not opened.get_rotation():
        return x - page.left, page.top - y
    across, down = ctypes.c_int(), ctypes.c_int()
    raw.FPDF_PageToDevice(opened, 0, 0, *_device(page), 0, x, y, across, down)
    return across.value / _STEPS, down.value / _STEPS


def _in_file(opened: Any, page: DecodedPage, x: float, y: float) -> Point:
    """Return the place in the file that a viewer shows at a place."""
    if not opened.get_rotation():
        return x + page.left, page.top - y
    across, up = ctypes.c_double(), ctypes.c_double()
    raw.FPDF_DeviceToPage(opened, 0, 0, *_device(page), 0, round(x * _STEPS), round(y * _STEPS), across, up)
    return across.value, up.value


def _device(page: DecodedPage) -> tuple[int, int]:
    return round(page.width * _STEPS), round(page.height * _STEPS)


def _holds(mark: Field, word: Word) -> bool:
    return mark.left < word.right and word.left < mark.right and mark.top <= word.middle <= mark.bottom


def _is_content(word: Word, opened: Any, page: DecodedPage, text: Any) -> bool:
    """Tell whether PDFium has a word at its place, too, so that the page's own content paints it."""
    across, down = (word.width / 4, 0.0) if word.angle % 180 else (0.0, word.height / 4)
    first = _in_file(opened, page, word.left + across, word.top + down)
    second = _in_file(opened, page, word.right - across, word.bottom - down)
    (left, right), (bottom, top) = map(sorted, zip(first, second, strict=True))
    found = as_letters("".join(text.get_text_bounded(left, bottom, right, top).split()))
    own = as_letters(word.text)
    return bool(found) and (word.unmapped or own in found or found in own)


def _contents(annotation: Any) -> str:
    return _string(annotation, "Contents") or " ".join(_TAG.sub(" ", _string(annotation, "RC")).split())


def _string(annotation: Any, key: str) -> str:
    return _text(lambda buffer, size: raw.FPDFAnnot_GetStringValue(annotation, key.encode(), buffer, size))


def _text(read: Callable[[Any, int], int]) -> str:
    """Return a text that PDFium writes into a buffer, in one line."""
    size = read(None, 0)
    if not 2 < size <= _LONGEST:
        return ""
    buffer = ctypes.create_string_buffer(size)
    read(ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return " ".join(clean(buffer.raw[: size - 2].decode("utf-16-le", "replace")).split())
