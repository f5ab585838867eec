"""Forms in Adobe's XFA format, whose pages only ask to wait: their texts and values are in an XML of their own."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sourcebook.errors import ParseError
from sourcebook.parsing.markup.xml_tree import descendants, elements, first_of, local_name, words_of, xml_root
from sourcebook.parsing.pdf.layout.form_fields import EMPTY

_LARGEST = 50_000_000
"""Bytes of the XML that are read."""
_MOST_LINES = 20_000
_DEEPEST = 100
_UNSEEN = frozenset({"hidden", "invisible", "inactive"})
_SENTENCE = "This form is in the XFA format, whose pages only Adobe's programs show."


@dataclass(frozen=True, slots=True)
class XfaForm:
    """An XFA form."""

    lines: tuple[str, ...]
    """A sentence on the format, the texts of the form, and its values as `label: value`."""
    replaces_pages: bool
    """Whether the file says that its pages are no part of the form."""


def xfa_form(document: Any) -> XfaForm | None:
    """Return the XFA form of a document that PDFium has opened, None where it has none."""
    from pypdfium2 import raw  # type: ignore[import-untyped] # has no stubs

    kind = raw.FPDF_GetFormType(document)
    if kind not in (raw.FORMTYPE_XFA_FULL, raw.FORMTYPE_XFA_FOREGROUND):
        return None
    packets = [_packet(raw, document, index) for index in range(max(0, raw.FPDF_GetXFAPacketCount(document)))]
    lines = list(islice(_lines(b"".join(packets)), _MOST_LINES))
    return XfaForm((_SENTENCE, *lines), kind == raw.FORMTYPE_XFA_FULL)


def _packet(raw: Any, document: Any, index: int) -> bytes:
    size = ctypes.c_ulong()
    raw.FPDF_GetXFAPacketContent(document, index, None, 0, size)
    if not 0 < size.value <= _LARGEST:
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    raw.FPDF_GetXFAPacketContent(document, index, buffer, size.value, size)
    return buffer.raw[: size.value]


def _lines(xml: bytes) -> Iterator[str]:
    """Yield the texts of the template, and the leaves of the data with the captions of their fields."""
    try:
        root = xml_root(xml.strip(b"\0 \r\n\t"))
    except ParseError:
        return
    captions: dict[str, str] = {}
    for part in descendants(root, "draw", "field"):
        if part.get("presence") in _UNSEEN:
            continue
        if local_name(part) == "field":
            captions.setdefault(part.get("name", ""), words_of(first_of(part, "caption")).rstrip(" :"))
        elif text := words_of(first_of(part, "value")):
            yield text
    for data in descendants(root, "datasets"):
        for held in elements(data):
            if local_name(held) == "data":
                yield from _values(held, captions, 0)


def _values(element: Any, captions: dict[str, str], depth: int) -> Iterator[str]:
    for child in elements(element):
        if depth < _DEEPEST and elements(child):
            yield from _values(child, captions, depth + 1)
        else:
            name = local_name(child)
            yield f"{captions.get(name) or name}: {words_of(child) or EMPTY}"
