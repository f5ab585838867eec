"""Office documents in one XML file ("flat OPC"), as the archive that they stand for."""

from base64 import b64decode
from io import BytesIO
from typing import Final
from zipfile import ZipFile

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.parsing.markup.xml_tree import descendants, first_of, xml_root

_PACKAGE: Final = "{http://schemas.microsoft.com/office/2006/xmlPackage}"
_MARK: Final = b"http://schemas.microsoft.com/office/2006/xmlPackage"
_TYPES: Final = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{}</Types>'
_TYPE: Final = '<Override PartName="{}" ContentType="{}"/>'


def archive_of_flat(content: bytes) -> bytes:
    """Return the archive that a document of one XML file stands for; another file as it is.

    Raises:
        ParseError: the XML is damaged.
    """
    if _MARK not in content[:4096]:
        return content
    types, file = [], BytesIO()
    with ZipFile(file, "w") as archive:
        for part in descendants(xml_root(content), "part"):
            name, kind = part.get(f"{_PACKAGE}name") or "", part.get(f"{_PACKAGE}contentType") or ""
            xml, packed = first_of(part, "xmlData"), first_of(part, "binaryData")
            if xml is not None and len(xml):
                held = etree.tostring(xml[0], xml_declaration=True, encoding="UTF-8", standalone=True)
            elif packed is not None:
                held = b64decode(packed.text or "")
            else:
                continue
            archive.writestr(name.lstrip("/"), held)
            types.append(_TYPE.format(name, kind))
        archive.writestr("[Content_Types].xml", _TYPES.format("".join(types)))
    return file.getvalue()
