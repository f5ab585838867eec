"""Office files through docling's backends, without docling's converter and its models."""

from __future__ import annotations

import logging
import sys
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Literal, TypeVar

from sourcebook.errors import FailureClass, ParseError

if TYPE_CHECKING:
    from docling.backend.abstract_backend import DeclarativeDocumentBackend

DoclingFormat = Literal["docx", "pptx", "xlsx", "odt", "odp"]
Backend = TypeVar("Backend", bound="DeclarativeDocumentBackend")


def open_backend(content: bytes, backend: type[Backend], *, name: str, docling_format: DoclingFormat) -> Backend:
    """Return a backend with a file loaded; the network is never used.

    Args:
        content: the whole file.
        backend: the backend's class.
        name: file name, path or URI.
        docling_format: the file's format.

    Raises:
        ParseError: the backend refuses the file.
    """
    import_without_models()
    from docling.backend.noop_backend import NoOpBackend
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.document import InputDocument
    from docling.exceptions import DocumentLoadError

    logging.getLogger("docling").setLevel(logging.ERROR)
    # docling's converter would import every pipeline. An input document keeps its backend to itself, so it gets one
    # that loads nothing.
    source = InputDocument(
        path_or_stream=BytesIO(content),
        format=InputFormat(docling_format),
        backend=NoOpBackend,
        filename=_safe_name(name, docling_format),
    )
    try:
        loaded = backend(source, BytesIO(content))
    except (DocumentLoadError, OSError, RuntimeError):
        loaded = None
    if loaded is None or not loaded.is_valid():
        raise ParseError(
            f"it is no readable .{docling_format} file; open it in its program and save it again", FailureClass.CORRUPT
        )
    return loaded


@cache
def import_without_models() -> None:
    """Import docling as if torch and transformers were not installed, a case that docling supports.

    docling imports both to name the options of its models, which takes 2.5 s and 200 MB per process.
    """
    hidden = [name for name in ("torch", "transformers") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type] # None is Python's "not to be found"
    try:
        import docling.datamodel.pipeline_options  # noqa: F401
    finally:
        for name in hidden:
            del sys.modules[name]


def _safe_name(name: str, docling_format: str) -> str:
    """Return a file name for docling's document; docling would open a path or a URI."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return last if last.lower().endswith(f".{docling_format}") else f"document.{docling_format}"
