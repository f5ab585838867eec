"""What a PDF says about itself, and whether it opens at all."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sourcebook.errors import ParseError
from sourcebook.parsing.json_values import json_mapping
from sourcebook.parsing.types import JsonValue

_NAMES = {"Author": "author", "Title": "title", "Subject": "subject", "CreationDate": "created", "ModDate": "modified"}
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?(?:(\d{2})(\d{2})(\d{2})?)?")


@dataclass(frozen=True, slots=True)
class PdfProperties:
    """Page count and the document information dictionary."""

    page_count: int
    metadata: Mapping[str, JsonValue]


def read_properties(content: bytes) -> PdfProperties:
    """Open the PDF with PDFium and read its properties.

    Raises:
        ParseError: The file needs a password, or is no PDF that can be opened.
    """
    from pypdfium2 import PdfDocument, PdfiumError  # type: ignore[import-untyped] # has no stubs

    try:
        document = PdfDocument(content)
    except PdfiumError as error:
        if "password" in str(error).lower():
            raise ParseError("the PDF is encrypted and needs a password; save a copy without one") from error
        raise ParseError("the PDF is damaged or cut off; copy it again, or print it to a new PDF") from error
    try:
        found: dict[object, object] = {}
        for key, value in document.get_metadata_dict(skip_empty=True).items():
            text = " ".join(value.split())
            if key in _NAMES and text:
                found[_NAMES[key]] = _iso_date(text) if key.endswith("Date") else text
        return PdfProperties(len(document), json_mapping(found))
    finally:
        document.close()


def _iso_date(text: str) -> str:
    match = _DATE.match(text)
    if match is None:
        return text
    day = "-".join(part for part in match.groups()[:3] if part)
    return day if match[4] is None or match[3] is None else f"{day}T{match[4]}:{match[5]}:{match[6] or '00'}"
