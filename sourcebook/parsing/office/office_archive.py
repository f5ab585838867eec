"""Checks of .docx, .pptx and .xlsx files before they are parsed: integrity, size after unpacking, and format."""

import posixpath
import re
import zlib
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Final, Literal
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile, ZipInfo

from sourcebook.errors import FailureClass, ParseError

OfficeFormat = Literal["docx", "pptx", "xlsx"]

_LARGEST_XML = 128 << 20
"""Most bytes of XML in a file.

A sheet of 200,000 cells is 7 MiB of XML and takes 240 MiB; parsed text takes five to ten times its XML. Within this
limit nearly all files stay below the 4 GiB that a parser may use.
"""
_LARGEST_UNPACKED = 512 << 20
"""Most bytes of a file after unpacking."""
_CONTENT_TYPES = "[Content_Types].xml"
_MAIN_PARTS: dict[str, OfficeFormat] = {
    "word/document.xml": "docx",
    "ppt/presentation.xml": "pptx",
    "xl/workbook.xml": "xlsx",
}
_PIECE = 1 << 20
"""Bytes unpacked at once."""
_DOCTYPES = tuple("<!DOCTYPE".encode(encoding) for encoding in ("ascii", "utf-16-le", "utf-16-be"))
_XML_BEGINNING = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*<\?xml[\s?]")
_COMMENTS = tuple(mark.encode(encoding) for mark in ("<!--", "<?") for encoding in ("utf-16-le", "utf-16-be"))
"""Comments and processing instructions, which docling's readers take for elements."""
_LONGEST_DOCTYPE = max(map(len, _DOCTYPES))
_DECLARATION = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([^"']*)""")
_ENCODINGS = re.compile(
    rb"utf-?(?:8|16)|us-ascii|iso-8859-\d+|windows-125\d|gb2312|gbk|gb18030|shift_jis|euc-kr", re.IGNORECASE
)
"""Accepted XML encodings; an encoding in which `<` is another byte would hide a DTD from the search for it."""
_VARIANTS = re.compile(
    rb"application/vnd\.(?:ms-(word|powerpoint)\.\w+\.macroEnabled(?:Template)?"
    rb"|openxmlformats-officedocument\.(wordprocessingml|presentationml)\.(?:template|slideshow))\.main\+xml",
    re.IGNORECASE,
)
_RELATIONSHIP: Final = re.compile(rb"<Relationship\b[^>]*/>")
_TARGET: Final = re.compile(rb"""\bTarget\s*=\s*["']([^"']*)""")
_MAIN_TYPE = b"application/vnd.openxmlformats-officedocument.%s.main+xml"
_MARK: Final = b"http://purl.oclc.org/ooxml/"
_NAME: Final = re.compile(re.escape(_MARK) + rb"(\w+)/(\w+)((?:/\w+)?)")
_PROPERTIES: Final = {b"extendedProperties": b"extended-properties", b"customProperties": b"custom-properties"}


@dataclass(frozen=True, slots=True)
class OfficeArchive:
    """An office file that is intact and safe to unpack."""

    content: bytes
    """The file as parsers need it.

    Templates, slide shows and files with macros are declared as plain documents, and the XML of documents and
    presentations has no comments.
    """
    office_format: OfficeFormat
    """Format of the content, which may differ from the file's name."""


def open_office_archive(content: bytes, *, named: str) -> OfficeArchive:
    """Check a file by unpacking all of it once, a piece at a time.

    Args:
        content: the whole file.
        named: extension of the file's name, for messages.

    Raises:
        ParseError: the archive is damaged, protected, no office document, unpacks to more than 512 MiB or 128 MiB of
            XML, or its XML declares a DTD: office programs never write one, and its entities could grow without end.
    """
    with opened_archive(content, named=named) as archive:
        names = set(archive.namelist())
        office_format = _format(names, named)
        commented = checked_parts(archive)
        parts = {name: b"" for name in commented if office_format != "xlsx" and name.endswith(".xml")}
        for name in parts:
            parts[name] = _without_comments(archive.read(name))
        main = next((part for part, held in _MAIN_PARTS.items() if held == office_format and part in names), None)
        if main and is_strict(archive.read(main)):
            named_as_xml = (name for name in names if name.endswith((".xml", ".rels", ".vml")))
            parts |= {name: as_transitional(parts.get(name) or archive.read(name)) for name in named_as_xml}
        for name in names:
            if name.endswith(".rels") and (kept := _without_lost(parts.get(name) or archive.read(name), name, names)):
                parts[name] = kept
        types = parts.get(_CONTENT_TYPES) or archive.read(_CONTENT_TYPES)
        plain_types = _VARIANTS.sub(_plain_type, types)
        if plain_types != types:
            parts[_CONTENT_TYPES] = plain_types
        if parts:
            content = with_parts(archive, parts)
    return OfficeArchive(content, office_format)


def checked_parts(archive: ZipFile, *, may_declare: AbstractSet[str] = frozenset()) -> list[str]:
    """Unpack every part of an archive once, a piece at a time, and return the parts that may hold comments.

    Args:
        archive: an office file.
        may_declare: parts in which a document type is no fault.

    Raises:
        ParseError: the parts unpack to more than 512 MiB or 128 MiB of XML, or their XML declares a DTD.
    """
    unpacked = xml = 0
    commented: list[str] = []
    for member in archive.infolist():
        unpacked += member.file_size
        if unpacked > _LARGEST_UNPACKED:
            raise ParseError(
                f"it unpacks to more than the {_LARGEST_UNPACKED >> 20} MiB that are read; split it,"
                " or save it without its pictures",
                FailureClass.TOO_LARGE,
            )
        size, may_hold = (0, False) if member.filename in may_declare else _checked_xml(archive, member)
        xml += size
        if may_hold:
            commented.append(member.filename)
        if xml > _LARGEST_XML:
            raise ParseError(
                f"it holds more than the {_LARGEST_XML >> 20} MiB of XML that are read; split it",
                FailureClass.TOO_LARGE,
            )
    return commented


@contextmanager
def opened_archive(content: bytes, *, named: str) -> Iterator[ZipFile]:
    """Open a zip archive; every error while it is open becomes a `ParseError`."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            yield archive
    except (BadZipFile, EOFError, OSError, zlib.error, KeyError, ValueError, NotImplementedError) as error:
        raise ParseError(
            f"the .{named} file is damaged or cut off; copy it again, or open and save it", FailureClass.CORRUPT
        ) from error
    except RuntimeError as error:  # zipfile's for encrypted members
        if "encrypted" not in str(error):
            raise
        raise ParseError("it is protected by a password; save a copy without one", FailureClass.PASSWORD) from error


def _format(names: set[str], named: str) -> OfficeFormat:
    if _CONTENT_TYPES in names:
        held = [office_format for part, office_format in _MAIN_PARTS.items() if part in names]
        if held:
            return next((office_format for office_format in held if office_format == named), held[0])
        if "xl/workbook.bin" in names:
            raise ParseError("the binary Excel format is not read; convert it to .xlsx", FailureClass.UNSUPPORTED)
        # The main part may have another path; docling follows the relationships.
        if named in _MAIN_PARTS.values():
            return named  # type: ignore[return-value] # one of the values it was compared with
    raise ParseError(f"it is a zip archive, but no .{named} document; check its file name", FailureClass.UNSUPPORTED)


def _checked_xml(archive: ZipFile, member: ZipInfo) -> tuple[int, bool]:
    """Return the size of an XML part in bytes, 0 for any other part, and whether it may hold comments.

    `zipfile` inflates no more than declared.
    """
    with archive.open(member) as stream:
        piece = stream.read(_PIECE)
        if not piece.lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n").startswith(b"<"):
            while piece:
                piece = stream.read(_PIECE)
            return 0, False
        encoding = _DECLARATION.search(piece[:1024].replace(b"\x00", b""))
        if encoding and not _ENCODINGS.fullmatch(encoding[1]):
            raise ParseError(
                f"its part {member.filename} is in an encoding that office programs do not write", FailureClass.CORRUPT
            )
        tail = b""
        may_hold = _may_hold_comments(piece, is_first=True)
        while piece:
            if any(doctype in tail + piece for doctype in _DOCTYPES):
                raise ParseError(
                    f"its part {member.filename} declares XML entities, which no office program does;"
                    " open and save it in its program",
                    FailureClass.CORRUPT,
                )
            tail = piece[-_LONGEST_DOCTYPE:]
            piece = stream.read(_PIECE)
            may_hold = may_hold or _may_hold_comments(tail + piece, is_first=False)
    return member.file_size, may_hold


def _plain_type(variant: re.Match[bytes]) -> bytes:
    is_word = b"word" in (variant[1] or variant[2]).lower()
    return _MAIN_TYPE % (b"wordprocessingml.document" if is_word else b"presentationml.presentation")


def with_parts(archive: ZipFile, parts: Mapping[str, bytes]) -> bytes:
    """Return the archive with the content of some of its parts replaced."""
    copy = BytesIO()
    with ZipFile(copy, "w") as target:
        for member in archive.infolist():
            name = member.filename
            target.writestr(name, parts[name] if name in parts else archive.read(member))
    return copy.getvalue()


def _may_hold_comments(piece: bytes, *, is_first: bool) -> bool:
    """Tell whether a piece of XML may hold a comment, or a processing instruction other than the declaration."""
    if b"<!--" in piece or any(mark in piece for mark in _COMMENTS):
        return True
    return piece.count(b"<?") > (1 if is_first and _XML_BEGINNING.match(piece) else 0)


def _without_comments(xml: bytes) -> bytes:
    """Return XML without comments and processing instructions; XML that is not well-formed stays as it is."""
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

    parser = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(xml, parser)
    except etree.XMLSyntaxError:
        return xml
    written: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    return written


def _without_lost(relations: bytes, name: str, names: AbstractSet[str]) -> bytes | None:
    """Return relationships without those to parts that the archive lacks; None where it lacks none.

    Programs leave them behind, and the libraries would refuse the whole file.
    """
    folder = posixpath.dirname(posixpath.dirname(name))

    def kept(found: re.Match[bytes]) -> bytes:
        target = _TARGET.search(found[0])
        if target is None or b"External" in found[0] or target[1].startswith((b"#", b"NULL")):
            return found[0]
        path = posixpath.normpath(posixpath.join("/", folder, unquote(target[1].decode("utf-8", "replace"))))
        return found[0] if path[1:] in names else b""

    known = _RELATIONSHIP.sub(kept, relations)
    return None if known == relations else known


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
