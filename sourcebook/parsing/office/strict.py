"""Strict Open XML, which Office saves on request: the names of its elements in the usual form, which libraries read."""

import re
from typing import Final

_MARK: Final = b"http://purl.oclc.org/ooxml/"
_NAME: Final = re.compile(re.escape(_MARK) + rb"(\w+)/(\w+)((?:/\w+)?)")
_PROPERTIES: Final = {b"extendedProperties": b"extended-properties", b"customProperties": b"custom-properties"}


def is_strict(xml: bytes) -> bool:
    """Tell whether the main part of an office file is Strict Open XML (ISO/IEC 29500-1)."""
    return _MARK in xml


def as_transitional(xml: bytes) -> bytes:
    """Return a part with the namespaces and types of relationships of the usual, transitional form."""
    return _NAME.sub(_transitional, xml)


def _transitional(found: re.Match[bytes]) -> bytes:
    family, kind, rest = found[1], found[2], found[3]
    last = _PROPERTIES.get(rest[1:])
    below = b"/" + last if last else rest
    return b"http://schemas.openxmlformats.org/%s/2006/%s%s" % (family, _PROPERTIES.get(kind, kind), below)
