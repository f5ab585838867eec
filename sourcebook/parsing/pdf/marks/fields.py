"""Fields of forms, and notes such as stamps, each with its value."""

import re
from typing import Any

from pypdfium2 import raw  # type: ignore[import-untyped] # has no stubs

from sourcebook.model.document import Box
from sourcebook.parsing.pdf.layout.page_parts import Field
from sourcebook.parsing.pdf.marks.texts import contents, entry, pdfium_text

_MOST = 10_000
"""Annotations of a page that are read."""
_PASSWORD = 1 << 13
_NOTES = frozenset({raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP, raw.FPDF_ANNOT_WATERMARK})
_TICKS = frozenset({raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON})
_CHOICES = frozenset({raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX})
_BY_NAME = {
    "Tx": raw.FPDF_FORMFIELD_TEXTFIELD,
    "Ch": raw.FPDF_FORMFIELD_COMBOBOX,
    "Btn": raw.FPDF_FORMFIELD_CHECKBOX,
    "Sig": raw.FPDF_FORMFIELD_SIGNATURE,
}
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_INDEX = re.compile(r"\[\d+\]$")
_STAMP = re.compile(r"(?:SB|SH|#)?((?:[A-Z][a-z]+)+)")
"""Name of a stamp that says what it shows, such as `SBNotApproved`."""


def field_or_note(annotation: Any, kind: int, form: Any, where: Box) -> Field | None:
    """Return a field of a form, or a note; None for another annotation.

    Args:
        annotation: PDFium's annotation.
        kind: its subtype.
        form: PDFium's handle of the form; None without one.
        where: its place on the page.
    """
    if kind in _NOTES:
        if kind != raw.FPDF_ANNOT_STAMP:
            return Field(*where, "note", contents(annotation))
        named = _STAMP.fullmatch(entry(annotation, "Name"))
        return Field(*where, "note", name=_CAPITAL.sub(" ", named[1]) if named else "")
    if kind != raw.FPDF_ANNOT_WIDGET:
        return None
    known = raw.FPDFAnnot_GetFormFieldType(form, annotation) if form else raw.FPDF_FORMFIELD_UNKNOWN
    listed = known > raw.FPDF_FORMFIELD_UNKNOWN
    if not listed:  # the form does not list it, and a viewer shows it all the same
        form, known = None, _BY_NAME.get(entry(annotation, "FT"), raw.FPDF_FORMFIELD_UNKNOWN)
    if known in (raw.FPDF_FORMFIELD_UNKNOWN, raw.FPDF_FORMFIELD_PUSHBUTTON):
        return None

    def fact(read: Any, key: str) -> str:
        if form is None:
            return entry(annotation, key)
        return pdfium_text(lambda buffer, size: read(form, annotation, buffer, size))

    full = fact(raw.FPDFAnnot_GetFormFieldName, "T")
    name = fact(raw.FPDFAnnot_GetFormFieldAlternateName, "TU") or _last_part(full)
    if known in _TICKS:
        # Programs that fill in forms set the value alone, and viewers that tick a box set its state.
        on = any(entry(annotation, key) not in ("", "Off") for key in ("AS", "V"))
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
        return pdfium_text(lambda buffer, size: raw.FPDFAnnot_GetOptionLabel(form, annotation, option, buffer, size))

    options = range(min(raw.FPDFAnnot_GetOptionCount(form, annotation), _MOST))
    return ", ".join(label(one) for one in options if raw.FPDFAnnot_IsOptionSelected(form, annotation, one))
