"""OpenDocument files in one XML file (.fodt, .fods, .fodp), as the archive that they stand for."""

import re
from copy import deepcopy
from io import BytesIO
from typing import Any, Final
from zipfile import ZipFile

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.errors import FailureClass, ParseError
from sourcebook.parsing.office.opendocument.opendocument_archive import qualified

_BINARY: Final = re.compile(rb"<office:binary-data>[^<]*</office:binary-data>")
"""Pictures, which are not read, and of which one may be longer than a text may be in XML."""
_BEGINNING: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<")
_PARTS: Final = {
    "content.xml": ("document-content", ("font-face-decls", "automatic-styles", "body")),
    "styles.xml": ("document-styles", ("font-face-decls", "styles", "automatic-styles", "master-styles")),
    "meta.xml": ("document-meta", ("meta",)),
}
"""Parts of an archive, each with its root and the elements below that."""
_VERSION: Final = qualified("office:version")


def is_flat(content: bytes) -> bool:
    """Tell whether a file is XML, and no archive."""
    return _BEGINNING.match(content) is not None


def as_archive(content: bytes, *, media_type: str) -> bytes:
    """Return the archive that holds a document of one XML file, without pictures.

    Raises:
        ParseError: the XML is damaged, declares a DTD, or is no OpenDocument.
    """
    try:
        root = etree.fromstring(
            _BINARY.sub(b"", content), etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        )
    except etree.XMLSyntaxError as error:
        raise ParseError("its XML is damaged; open and save it in LibreOffice", FailureClass.CORRUPT) from error
    if root.tag != qualified("office:document") or root.getroottree().docinfo.doctype:
        raise ParseError("it is XML, but no OpenDocument; check its file name", FailureClass.CORRUPT)
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr("mimetype", media_type)
        for name, (kind, elements) in _PARTS.items():
            archive.writestr(name, _part(root, kind, elements))
        archive.writestr("META-INF/manifest.xml", _manifest(media_type))
    return file.getvalue()


def _part(root: Any, kind: str, elements: tuple[str, ...]) -> bytes:
    own = etree.Element(qualified(f"office:{kind}"), nsmap=root.nsmap)
    own.set(_VERSION, root.get(_VERSION, "1.2"))
    for element in elements:
        own.extend(map(deepcopy, root.findall(qualified(f"office:{element}"))))
    written: bytes = etree.tostring(own, encoding="utf-8", xml_declaration=True)
    return written


def _manifest(media_type: str) -> str:
    files = {"/": media_type, **dict.fromkeys(_PARTS, "text/xml")}
    entries = (
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{kind}"/>'
        for path, kind in files.items()
    )
    return (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2">'
        f"{''.join(entries)}</manifest:manifest>"
    )
