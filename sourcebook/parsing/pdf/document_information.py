"""Document information of a PDF: page count, properties and outline."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import JsonValue
from sourcebook.model.page_labels import page_labels
from sourcebook.parsing.pdf.layout.page_parts import OutlineEntry
from sourcebook.parsing.pdf.nesting import refuse_endless_nesting
from sourcebook.parsing.pdf.xfa import XfaForm, xfa_form
from sourcebook.parsing.text.json_values import json_mapping

_NAMES = {
    "Author": "author",
    "Title": "title",
    "Subject": "subject",
    "Keywords": "keywords",
    "CreationDate": "created",
    "ModDate": "modified",
}
_MOST_ENTRIES = 20_000
"""Outline entries that are read."""
_DEEPEST = 10
"""Outline levels that are read."""
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?(?:(\d{2})(\d{2})(\d{2})?)?")


@dataclass(frozen=True, slots=True)
class PdfProperties:
    """Page count, entries of the document information dictionary, and outline."""

    page_count: int
    metadata: Mapping[str, JsonValue]
    outline: Sequence[OutlineEntry]
    has_files: bool = False
    """Whether files are attached to the document; further ones may be attached to its pages."""
    xfa: XfaForm | None = None


def read_information(content: bytes) -> PdfProperties:
    """Open a PDF with PDFium and read its properties; refuse a file whose pages must not be read.

    Raises:
        ParseError: the file needs a password, is no PDF that can be opened, or has drawings that contain themselves.
    """
    from pypdfium2 import raw  # type: ignore[import-untyped] # has no stubs

    with _opened(content) as document:
        refuse_endless_nesting(content, document)
        found: dict[object, object] = {}
        for key, value in document.get_metadata_dict(skip_empty=True).items():
            text = " ".join(value.split())
            if key in _NAMES and text:
                found[_NAMES[key]] = _iso_date(text) if key.endswith("Date") else text
        if labels := page_labels([document.get_page_label(index) for index in range(len(document))]):
            found["page_labels"] = labels
        has_files = raw.FPDFDoc_GetAttachmentCount(document) > 0
        return PdfProperties(len(document), json_mapping(found), _outline(document), has_files, xfa_form(document))


@contextmanager
def _opened(content: bytes) -> Iterator[Any]:  # pypdfium2 has no stubs
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(content)
    except PdfiumError as error:
        # PDFium may report the reason of an earlier failure.
        if b"/Encrypt" in content and "password" in str(error).lower():
            raise ParseError(
                "the PDF is encrypted and needs a password; save a copy without one", FailureClass.PASSWORD
            ) from error
        raise ParseError(
            "the PDF is damaged or cut off; copy it again, or print it to a new PDF", FailureClass.CORRUPT
        ) from error
    try:
        yield document
    finally:
        document.close()


def _iso_date(text: str) -> str:
    match = _DATE.match(text)
    if match is None:
        return text
    day = "-".join(part for part in match.groups()[:3] if part)
    return day if match[4] is None or match[3] is None else f"{day}T{match[4]}:{match[5]}:{match[6] or '00'}"


def _outline(document: Any) -> list[OutlineEntry]:
    """Return the entries of the file's outline in order; a damaged outline ends at its damage."""
    found: list[OutlineEntry] = []
    with suppress(ValueError, RuntimeError):
        found.extend(islice(_outline_entries(document), _MOST_ENTRIES))
    return found


def _outline_entries(document: Any) -> Iterator[OutlineEntry]:
    for mark in document.get_toc(max_depth=_DEEPEST):
        title = " ".join((mark.get_title() or "").split())
        destination = mark.get_dest()
        index = destination.get_index() if destination is not None else None
        if title:
            yield OutlineEntry(title, mark.level + 1, None if index is None or index < 0 else index + 1)
