"""Checks of OpenDocument files before they are parsed, and the XML that parsers read."""

import re
from collections.abc import Iterator
from typing import Any, Final
from zipfile import ZipFile

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.media_types import ODP, ODS, ODT
from sourcebook.parsing.office.office_archive import checked_parts, opened_archive, with_parts
from sourcebook.parsing.text.picture_marks import picture_mark

_MANIFEST = "META-INF/manifest.xml"
_UNREAD: Final = ("Basic/", "Dialogs/", "Scripts/", "Pictures/")
"""Folders of macros, dialogs and pictures, which are not read; drawing programs declare entities in SVG files."""
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]*>")
"""Document type without declarations of its own, which OpenOffice 2 writes into the manifest."""
_MOST_REPEATED: Final = 100
"""Times that a row, a cell or a space of a text document or presentation repeats at most."""
_NAMESPACES: Final = {
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "dc": "http://purl.org/dc/elements/1.1/",
    "xlink": "http://www.w3.org/1999/xlink",
    "meta": "urn:oasis:names:tc:opendocument:xmlns:meta:1.0",
}


def qualified(name: str) -> str:
    """Return lxml's name of an element or attribute: `{urn:…}p` for `text:p`."""
    prefix, _, local = name.partition(":")
    return f"{{{_NAMESPACES[prefix]}}}{local}"


DRAWN: Final = f"{{{_NAMESPACES['draw']}}}*"
"""lxml's pattern of frames, text boxes and shapes."""
PARAGRAPHS: Final = (qualified("text:p"), qualified("text:h"))
"""Elements that hold text: paragraphs and headings."""
_REPETITIONS: Final = tuple(map(qualified, ("table:number-rows-repeated", "table:number-columns-repeated", "text:c")))


def open_opendocument(content: bytes, *, named: str) -> tuple[str, dict[str, Any]]:
    """Check a file by unpacking all of it once, a piece at a time.

    Args:
        content: the whole file.
        named: extension of the file's name, for messages.

    Returns:
        The media type that the content has, ODT, ODS or ODP; and the roots of its XML parts `content.xml` and
        `meta.xml`, where they are there.

    Raises:
        ParseError: the archive is damaged, protected, too large, no OpenDocument text, spreadsheet or presentation,
            or its XML declares a DTD.
    """
    with opened_archive(content, named=named) as archive:
        names = set(archive.namelist())
        if _MANIFEST in names and b"encryption-data" in archive.read(_MANIFEST):
            raise ParseError("it is protected by a password; save a copy without one", FailureClass.PASSWORD)
        if "content.xml" not in names:
            raise ParseError(
                f"it is a zip archive, but no .{named} document; check its file name", FailureClass.CORRUPT
            )
        checked_parts(archive, may_declare={_MANIFEST, *(name for name in names if name.startswith(_UNREAD))})
        roots: dict[str, Any] = {name: _root(archive, name) for name in ("content.xml", "meta.xml") if name in names}
    body = roots["content.xml"].find(qualified("office:body"))
    kinds = {"office:text": ODT, "office:spreadsheet": ODS, "office:presentation": ODP}
    for kind, media_type in kinds.items():
        if body is not None and body.find(qualified(kind)) is not None:
            return media_type, roots
    raise ParseError(
        "it holds no text, spreadsheet or presentation; open it in LibreOffice and export it as PDF",
        FailureClass.UNSUPPORTED,
    )


def with_content(content: bytes, root: Any, *, named: str, media_type: str) -> bytes:
    """Return a file with another `content.xml`, declared as a plain document where it is a template."""
    with opened_archive(content, named=named) as archive:
        parts = {"content.xml": etree.tostring(root, encoding="utf-8", xml_declaration=True)}
        if "mimetype" in archive.namelist():
            parts["mimetype"] = media_type.encode()
        if _MANIFEST in archive.namelist():
            manifest = _DOCTYPE.sub(b"", archive.read(_MANIFEST))
            if b"<!DOCTYPE" in manifest:
                raise ParseError(
                    f"its part {_MANIFEST} declares XML entities, which no office program does;"
                    " open and save it in its program",
                    FailureClass.CORRUPT,
                )
            parts[_MANIFEST] = manifest
        return with_parts(archive, parts)


def mark_pictures(root: Any, archive: ZipFile) -> None:
    """Put a text box with the mark of a picture in the picture's place; the pictures of a single XML file are gone."""
    names = frozenset(archive.namelist())
    for picture in list(root.iter(qualified("draw:image"))):
        path, frame = (picture.get(qualified("xlink:href")) or "").removeprefix("./"), picture.getparent()
        if (path in names or not path) and frame is not None and frame.find(qualified("draw:object")) is None:
            box = etree.SubElement(frame, qualified("draw:text-box"))
            etree.SubElement(box, PARAGRAPHS[0]).text = picture_mark(archive.read(path) if path else None)


def without_pictures(root: Any) -> None:
    """Remove pictures, comments in the XML, and the excess of repetitions, which cost memory without end."""
    for picture in list(root.iter(qualified("draw:image"), etree.Comment, etree.ProcessingInstruction)):
        remove(picture)
    for element in root.iter(etree.Element):
        for name in _REPETITIONS:
            if (times := element.get(name)) is not None and repetitions(times) > _MOST_REPEATED:
                element.set(name, str(_MOST_REPEATED))


def remove(element: Any, *, mark: str = "") -> None:
    """Remove an element, with a text in its place; the text behind it stays."""
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    rest = mark + (element.tail or "")
    if before is not None:
        before.tail = (before.tail or "") + rest
    else:
        parent.text = (parent.text or "") + rest
    parent.remove(element)


def repetitions(times: str | None) -> int:
    """Return the number that an attribute says, 1 where it says none."""
    return max(int(times), 1) if times and times.isascii() and times.isdecimal() and len(times) < 19 else 1


def shown_text(element: Any) -> str:
    """Return the text of a paragraph as it is shown, without notes and comments."""
    return "".join(_texts(element))


def _texts(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element.iterchildren(etree.Element):
        match etree.QName(child).localname:
            case "s":
                yield " " * min(repetitions(child.get(qualified("text:c"))), _MOST_REPEATED)
            case "tab" | "line-break":
                yield " "
            case "annotation" | "note":
                pass
            case _:
                yield from _texts(child)
        yield child.tail or ""


def _root(archive: ZipFile, name: str) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(archive.read(name), parser)
    except etree.XMLSyntaxError as error:
        raise ParseError(
            f"its part {name} is damaged; open and save it in its program", FailureClass.CORRUPT
        ) from error
