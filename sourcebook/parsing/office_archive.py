"""Look into a .docx, .pptx or .xlsx before a parser does: is it whole, is it safe to unpack, who wrote it."""

import re
from collections.abc import Mapping
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from sourcebook.errors import ParseError
from sourcebook.parsing.json_values import json_mapping
from sourcebook.parsing.types import JsonValue

_LARGEST_UNPACKED = 1 << 30
_CORE_PROPERTIES = "docProps/core.xml"
_LARGEST_PROPERTIES = 1 << 20
_NAMES = {"creator": "author", "created": "created", "modified": "modified", "title": "title", "subject": "subject"}
_TAG = re.compile(r"\{[^}]*\}")


def read_core_properties(content: bytes, *, office_format: str) -> Mapping[str, JsonValue]:
    """Return author, created, modified, title and subject where the file gives them.

    Raises:
        ParseError: The archive is damaged, or unpacks to more than 1 GiB.
    """
    try:
        with ZipFile(BytesIO(content)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > _LARGEST_UNPACKED:
                raise ParseError(f"it unpacks to {unpacked >> 20} MiB, more than the 1,024 MiB that are read; split it")
            names = set(archive.namelist())
            if "[Content_Types].xml" not in names:
                raise ParseError(f"it is a zip archive, but no .{office_format} document; check its file name")
            if _CORE_PROPERTIES not in names or archive.getinfo(_CORE_PROPERTIES).file_size > _LARGEST_PROPERTIES:
                return {}
            return _properties(archive.read(_CORE_PROPERTIES))
    except (BadZipFile, EOFError, OSError) as error:
        raise ParseError(
            f"the .{office_format} file is damaged or cut off; copy it again, or open and save it",
        ) from error


def _properties(xml: bytes) -> Mapping[str, JsonValue]:
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

    try:
        root = etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return {}
    found: dict[object, object] = {}
    for element in root.iterchildren(tag=etree.Element):
        name = _NAMES.get(_TAG.sub("", str(element.tag)))
        text = " ".join((element.text or "").split())
        if name and text:
            found[name] = text
    return json_mapping(found)
