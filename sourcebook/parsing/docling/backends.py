"""Read office files with docling's backends, without its converter and its models."""

import logging
import sys
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Literal, TypeVar

from sourcebook.errors import ParseError

if TYPE_CHECKING:
    from docling.backend.abstract_backend import DeclarativeDocumentBackend

DoclingFormat = Literal["docx", "pptx", "xlsx"]
Backend = TypeVar("Backend", bound="DeclarativeDocumentBackend")


def open_backend(content: bytes, backend: type[Backend], *, name: str, docling_format: DoclingFormat) -> Backend:
    """Return a backend that has loaded a file; nothing is ever fetched.

    Raises:
        ParseError: the backend refuses the file.
    """
    import_without_models()
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.document import InputDocument

    logging.getLogger("docling").setLevel(logging.ERROR)
    source = InputDocument(
        path_or_stream=BytesIO(content),
        format=InputFormat(docling_format),
        backend=backend,
        filename=_safe_name(name, docling_format),
    )
    # The converter around the backend would import every pipeline; a document it refuses has no backend at all.
    loaded = getattr(source, "_backend", None)
    if not source.valid or not isinstance(loaded, backend):
        raise ParseError(f"it is no readable .{docling_format} file; open it in its program and save it again")
    return loaded


@cache
def import_without_models() -> None:
    """Import docling as where torch and transformers are not installed, which it provides for.

    It would import both to name the options of its models: 2.5 s and 200 MB a process.
    """
    hidden = [name for name in ("torch", "transformers") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type] # None is Python's "not to be found"
    try:
        import docling.datamodel.pipeline_options  # noqa: F401
    finally:
        for name in hidden:
            del sys.modules[name]


def _safe_name(name: str, docling_format: str) -> str:
    """Docling names its document after the file; a path or URI would be taken for one to open."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return last if last.lower().endswith(f".{docling_format}") else f"document.{docling_format}"
