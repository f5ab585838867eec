"""Texts of annotations that PDFium has opened."""

import ctypes
import re
from collections.abc import Callable
from typing import Any

from pypdfium2 import raw  # type: ignore[import-untyped] # has no stubs

from sourcebook.parsing.text.decode import clean

_LONGEST = 2_000_000
"""Bytes of a text that is read."""
_TAG = re.compile(r"<[^>]*>")


def contents(annotation: Any) -> str:
    """Return the text of an annotation, plain or as it is formatted."""
    return entry(annotation, "Contents") or " ".join(_TAG.sub(" ", entry(annotation, "RC")).split())


def entry(annotation: Any, key: str) -> str:
    """Return a string or name of an annotation's dictionary, "" without one."""
    return pdfium_text(lambda buffer, size: raw.FPDFAnnot_GetStringValue(annotation, key.encode(), buffer, size))


def pdfium_text(read: Callable[[Any, int], int]) -> str:
    """Return a text that PDFium writes into a buffer, in one line."""
    size = read(None, 0)
    if not 2 < size <= _LONGEST:
        return ""
    buffer = ctypes.create_string_buffer(size)
    read(ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return " ".join(clean(buffer.raw[: size - 2].decode("utf-16-le", "replace")).split())
