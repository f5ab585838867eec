"""Read office files and web pages with docling's backends, without its converter and its models."""

import logging
from io import BytesIO
from typing import TYPE_CHECKING, Literal

from sourcebook.errors import ParseError

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

DoclingFormat = Literal["docx", "pptx", "xlsx", "html"]


def read_with_docling(content: bytes, *, name: str, docling_format: DoclingFormat) -> "DoclingDocument":
    """Return docling's document of a file; nothing is ever fetched.

    Raises:
        ParseError: docling's backend refuses the file.
    """
    from docling.backend.abstract_backend import DeclarativeDocumentBackend
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.document import InputDocument

    logging.getLogger("docling").setLevel(logging.ERROR)
    source = InputDocument(
        path_or_stream=BytesIO(content),
        format=InputFormat(docling_format),
        backend=_backend(docling_format),
        filename=_safe_name(name, docling_format),
    )
    # The converter around the backend would import every pipeline; a document it refuses has no backend at all.
    backend = getattr(source, "_backend", None)
    if not source.valid or not isinstance(backend, DeclarativeDocumentBackend):
        raise ParseError(f"it is no readable .{docling_format} file; open it in its program and save it again")
    return backend.convert()


def _backend(docling_format: DoclingFormat) -> type:
    match docling_format:
        case "docx":
            from docling.backend.msword_backend import MsWordDocumentBackend

            return MsWordDocumentBackend
        case "pptx":
            from docling.backend.mspowerpoint_backend import MsPowerpointDocumentBackend

            return MsPowerpointDocumentBackend
        case "xlsx":
            from docling.backend.msexcel_backend import MsExcelDocumentBackend

            return MsExcelDocumentBackend
        case "html":
            from docling.backend.html_backend import HTMLDocumentBackend

            return HTMLDocumentBackend


def _safe_name(name: str, docling_format: str) -> str:
    """Docling names its document after the file; a path or URI would be taken for one to open."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return last if last.lower().endswith(f".{docling_format}") else f"document.{docling_format}"
