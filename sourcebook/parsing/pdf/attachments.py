"""Files attached to a PDF: to the document, as those of portfolios and electronic invoices, or to a place on a page."""

import hashlib
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pypdfium2 import PdfAttachment, PdfDocument, PdfiumError, raw  # type: ignore[import-untyped] # has no stubs

from sourcebook.errors import FailureClass, ParseError
from sourcebook.parsing.archives.members import Budget
from sourcebook.parsing.attached_files import DEEPEST, MOST_ATTACHMENTS

_HEAD = b"%PDF-"
_MOST_ANNOTATIONS = 10_000
"""Annotations of a page that are looked through."""
_MOST_KEPT = 64 << 20
"""Bytes that stay in memory between two attachments of one file."""
_COLLECTION = re.compile(rb"/Collection\s*(?:<<|\d+\s+\d+\s+R\b)")
_PACKED_OBJECTS = re.compile(rb"/Type\s*/ObjStm\b[^\x00]{0,400}?stream\r?\n")
_MOST_UNPACKED = 1 << 24
"""Bytes of packed objects that are looked through, each."""


@dataclass(frozen=True, slots=True)
class PdfFile:
    """A file attached to a PDF."""

    name: str
    media_type: str
    content: bytes

    def read(self) -> bytes:
        """Return its bytes."""
        return self.content


@dataclass(slots=True)
class PdfFiles:
    """The attachments of a PDF, one in memory at a time.

    The limits of archives hold: number, size of one and of all, ratio of unpacked to packed bytes. An attached PDF is
    followed by its own attachments.
    """

    content: bytes
    pages: Sequence[int] | None = None
    """Numbers of the pages to which files are attached; None where they are not known."""
    unread: int = 0
    """Attachments left out, counted while the others are yielded."""

    def __iter__(self) -> Iterator[PdfFile]:
        self.unread = 0
        yield from self._files(self.content, self.pages, Budget(members=MOST_ATTACHMENTS), ())

    def _files(
        self, content: bytes, pages: Sequence[int] | None, budget: Budget, around: tuple[bytes, ...]
    ) -> Iterator[PdfFile]:
        digest = hashlib.sha256(content).digest()
        seen: set[tuple[str, bytes]] = set()
        try:
            document = PdfDocument(content)
        except PdfiumError:
            return
        try:
            for attachment in _attachments(document, pages):
                if budget.members < 1 or budget.bytes < 1:
                    self.unread += 1
                    continue
                file = _file(attachment, document)
                if file is None or budget.refusal(len(file.content), len(content)) is not None:
                    self.unread += 1
                    budget.bytes -= len(file.content) if file is not None else 0  # it was unpacked all the same
                    continue
                inner = hashlib.sha256(file.content).digest()
                if (file.name, inner) in seen or inner in (digest, *around):  # shown at two places, or the PDF itself
                    budget.members += 1
                    continue
                seen.add((file.name, inner))
                yield file
                if file.content.startswith(_HEAD) and len(around) < DEEPEST:
                    yield from self._files(file.content, None, budget, (*around, digest))
        finally:
            document.close()


def _attachments(document: Any, pages: Sequence[int] | None) -> Iterator[Any]:
    """Yield PDFium's attachments of a document, and then those of its pages."""
    for index in range(max(0, raw.FPDFDoc_GetAttachmentCount(document))):
        yield raw.FPDFDoc_GetAttachment(document, index)
    for number in range(1, len(document) + 1) if pages is None else pages:
        try:
            page = document[number - 1]
        except PdfiumError:
            continue
        try:
            for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_ANNOTATIONS)):
                if not (annotation := raw.FPDFPage_GetAnnot(page, index)):
                    continue
                try:
                    if raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_FILEATTACHMENT:
                        yield raw.FPDFAnnot_GetFileAttachment(annotation)
                finally:
                    raw.FPDFPage_CloseAnnot(annotation)
        finally:
            page.close()


def _file(attachment: Any, document: Any) -> PdfFile | None:
    if not attachment:
        return None
    opened = PdfAttachment(attachment, document)
    name, media_type = "", "application/octet-stream"
    with suppress(PdfiumError, UnicodeError):
        name = opened.get_name()
        media_type = opened.get_subtype() or media_type
    try:
        return PdfFile(name, media_type, bytes(opened.get_data()))
    except (PdfiumError, MemoryError):
        return None


class _LastPdf:
    """The attachments of the last PDF, which are asked for one after the other."""

    def __init__(self) -> None:
        self.digest = b""
        self.files: list[PdfFile] = []


_last = _LastPdf()


def attachment_content(content: bytes, number: int) -> bytes:
    """Return the bytes of an attachment of a PDF.

    Args:
        content: the whole PDF.
        number: index in `ParsedDocument.attachments`, from 0.

    Raises:
        ParseError: there is no such attachment.
    """
    digest = hashlib.sha256(content).digest()
    if _last.digest == digest and number < len(_last.files):
        return _last.files[number].content
    _last.digest, _last.files = digest, []
    kept = 0
    for index, file in enumerate(PdfFiles(content)):
        kept += len(file.content)
        if kept <= _MOST_KEPT:
            _last.files.append(file)
        if index == number and kept > _MOST_KEPT:
            return file.content
    if number < len(_last.files):
        return _last.files[number].content
    raise ParseError(f"the PDF has no attachment of the number {number}; read it again", FailureClass.MISSING)


def is_portfolio(content: bytes) -> bool:
    """Tell whether a PDF says that it is a collection of its attachments, whose pages are a cover."""
    if _COLLECTION.search(content):
        return True
    for packed in _PACKED_OBJECTS.finditer(content):
        with suppress(zlib.error):
            if _COLLECTION.search(zlib.decompressobj().decompress(content[packed.end() :], _MOST_UNPACKED)):
                return True
    return False
