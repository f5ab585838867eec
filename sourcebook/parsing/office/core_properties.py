"""Core properties of an office document: title, author, dates, subject, keywords."""

import re
from collections.abc import Mapping

from sourcebook.model.document import JsonValue
from sourcebook.parsing.office.office_archive import opened_archive
from sourcebook.parsing.text.json_values import json_mapping
from sourcebook.parsing.text.titles import is_title

_PART = "docProps/core.xml"
_LARGEST = 1 << 20
"""Bytes of XML above which the properties are not read."""
_NAMES = {
    "title": "title",
    "creator": "author",
    "created": "created",
    "modified": "modified",
    "subject": "subject",
    "description": "description",
    "keywords": "keywords",
    "category": "category",
}
_NAMESPACE = re.compile(r"\{[^}]*\}")
_KEYWORDS = re.compile(r"[;,\n]")
_LIBRARIES = re.compile(r"python-(?:docx|pptx)|openpyxl|generated (?:by|using) python", re.IGNORECASE)


def read_core_properties(content: bytes, *, named: str) -> Mapping[str, JsonValue]:
    """Return title, author, created, modified, subject, description, keywords (a list) and category, where given.

    Titles that a program writes into every new file and names of libraries are left out.

    Args:
        content: the whole file.
        named: extension of the file's name, for messages.

    Raises:
        ParseError: the archive is damaged.
    """
    with opened_archive(content, named=named) as archive:
        if _PART not in archive.namelist() or archive.getinfo(_PART).file_size > _LARGEST:
            return {}
        xml = archive.read(_PART)
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

    try:
        root = etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return {}
    found: dict[object, object] = {}
    for element in root.iterchildren(tag=etree.Element):
        name = _NAMES.get(_NAMESPACE.sub("", str(element.tag)))
        text = " ".join((element.text or "").split())
        if name == "keywords":
            found[name] = [word for part in _KEYWORDS.split(element.text or "") if (word := " ".join(part.split()))]
        elif name and not (name == "title" and not is_title(text)) and not _LIBRARIES.match(text):
            found[name] = text
    return json_mapping({name: value for name, value in found.items() if value})
