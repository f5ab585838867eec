"""Files embedded in office documents: workbooks, documents and what a person dropped into one (OLE packages)."""

import posixpath
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from typing import Final
from zipfile import BadZipFile, ZipFile, ZipInfo
from zlib import error as ZlibError  # noqa: N812 # zlib names its exception in lower case

from olefile import MAGIC, OleFileIO  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import Attachment, Block
from sourcebook.model.media_types import BINARY, ODP, ODS, ODT
from sourcebook.parsing.archives.members import Budget
from sourcebook.parsing.attached_files import DEEPEST, attachments_of
from sourcebook.parsing.mail.message import MailFile, first_files
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.markdown_writing import WrittenDocument

_EMBEDDED: Final = re.compile(r"(?:word|ppt|xl)/embeddings/[^/]+")
_CHART: Final = re.compile(r"(\w+/charts)/_rels/chart\d*\.xml\.rels")
_TARGET: Final = re.compile(rb"""\bTarget\s*=\s*["']([^"']*)""")
_MANIFEST: Final = "META-INF/manifest.xml"
_ENTRY: Final = re.compile(rb"<[\w:]*file-entry\b[^>]*>")
_ATTRIBUTE: Final = re.compile(rb"""\b(full-path|media-type)\s*=\s*["']([^"']*)""")
_OLE_OBJECT: Final = "application/vnd.sun.star.oleobject"
_CHART_KIND: Final = "application/vnd.oasis.opendocument.chart"
_PARTS: Final = ("content.xml", "styles.xml", "meta.xml")
_OWN_STREAMS: Final = {"WordDocument": ".doc", "Workbook": ".xls", "Book": ".xls", "PowerPoint Document": ".ppt"}
"""Streams of an OLE object that is a document itself, with the ending of its name."""
_STREAMS: Final = ("Package", "EmbeddedOdf", "CONTENTS")
"""Streams with a document in an OLE object."""
_NATIVE: Final = "\x01Ole10Native"
_DAMAGES: Final = (
    BadZipFile,
    ZlibError,
    EOFError,
    OSError,
    ValueError,
    IndexError,
    KeyError,
    RuntimeError,
    struct.error,
)


def attachments_within(content: bytes, written: WrittenDocument) -> tuple[WrittenDocument, tuple[Attachment, ...], int]:
    """Return a document with a line that names its files, these files, and the number of objects that are not read.

    Args:
        content: the whole file of the document.
        written: its text.
    """
    files, unread = first_files(_files(content, Budget()))
    attachments = tuple(attachments_of(files, set()))
    if not attachments:
        return written, (), unread
    line = f"Attachments: {', '.join(attachment.name for attachment in attachments)}"
    begin = len(written.markdown) + 1 if written.markdown else 0
    text = f"{written.markdown}\n{line}\n" if begin else f"{line}\n"
    blocks = (*written.blocks, Block("paragraph", begin, begin + len(line)))
    return WrittenDocument(text, blocks), attachments, unread


def embedded_content(content: bytes, *, number: int) -> bytes:
    """Return the bytes of a file in a document.

    Args:
        content: the whole file of the document.
        number: index in `ParsedDocument.attachments`, from 0.

    Raises:
        ParseError: there is no such file.
    """
    files, _ = first_files(_files(content, Budget()))
    if not 0 <= number < len(files):
        raise ParseError(f"the document holds no file of the number {number}; read it again", FailureClass.MISSING)
    return files[number].read()


def _files(content: bytes, budget: Budget, depth: int = 1) -> Iterator[MailFile | None]:
    """Yield the files in a document, each followed by those in it; None for each object that is not read.

    Workbooks of charts are left out: their numbers are the chart's table.
    """
    with suppress(*_DAMAGES), ZipFile(BytesIO(content)) as archive:
        for file in (*_of_open_xml(archive, budget), *_of_opendocument(archive, budget)):
            yield file
            if file is not None and depth < DEEPEST:
                yield from _files(file.read(), budget, depth + 1)


def _of_open_xml(archive: ZipFile, budget: Budget) -> Iterator[MailFile | None]:
    names = archive.namelist()
    charts: set[str] = set()
    for relations in filter(None, map(_CHART.fullmatch, names)):
        targets = _TARGET.findall(archive.read(relations[0]))
        charts |= {posixpath.normpath(posixpath.join(relations[1], target.decode())) for target in targets}
    for name in names:
        if _EMBEDDED.fullmatch(name) and name not in charts:
            yield _file(name, _part(archive, name, budget))


def _of_opendocument(archive: ZipFile, budget: Budget) -> Iterator[MailFile | None]:
    if _MANIFEST not in archive.namelist():
        return
    entries = (dict(_ATTRIBUTE.findall(entry)) for entry in _ENTRY.findall(archive.read(_MANIFEST)))
    kinds = {entry.get(b"full-path", b"").decode(): entry.get(b"media-type", b"").decode() for entry in entries}
    for path, kind in kinds.items():
        if kind == _OLE_OBJECT:
            yield _file(path, _part(archive, path, budget))
        elif kind in {ODT, ODS, ODP} and path.count("/") == 1 and path != "/":
            parts = {name: _part(archive, path + name, budget) for name in _PARTS if path + name in archive.namelist()}
            yield _file(path.rstrip("/"), _document(kind, parts))
        elif kind == _CHART_KIND and kinds.get("/") != ODS:  # a spreadsheet's chart shows its cells
            yield None


def _document(kind: str, parts: Mapping[str, bytes | None]) -> bytes:
    """Return an OpenDocument of these parts, the same bytes at each call."""
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, content in {"mimetype": kind.encode(), **parts}.items():
            archive.writestr(ZipInfo(name), content or b"")
    return packed.getvalue()


def _part(archive: ZipFile, name: str, budget: Budget) -> bytes | None:
    with suppress(*_DAMAGES, NotImplementedError):
        member = archive.getinfo(name)
        if budget.refusal(member.file_size, member.compress_size) is None:
            return archive.read(member)
    return None


def _file(path: str, content: bytes | None) -> MailFile | None:
    """Return a part as a file; None for an object of a program whose files are not read."""
    name = posixpath.basename(path)
    if content is not None and content.startswith(MAGIC):
        packed = _packed(content, posixpath.splitext(name)[0])
        if packed is None:
            return None
        name, content = packed
    return None if content is None else MailFile(name, BINARY, lambda: content)


def _packed(content: bytes, name: str) -> tuple[str, bytes] | None:
    """Return the name and the content of the file in an OLE object."""
    with suppress(*_DAMAGES), OleFileIO(content) as ole:
        if ole.exists(_NATIVE):
            return _dropped(ole.openstream(_NATIVE).read(), name)
        for stream, ending in _OWN_STREAMS.items():
            if ole.exists(stream):
                return name + ending, content
        for stream in _STREAMS:
            if ole.exists(stream) and (held := ole.openstream(stream).read()).startswith((b"PK", b"%PDF")):
                return name, held
    return None


def _dropped(stream: bytes, name: str) -> tuple[str, bytes]:
    """Return the name and the content of a file that a person dropped into a document, as its stream says."""
    (size,) = struct.unpack_from("<I", stream)
    if stream[4:6] != b"\x02\x00":  # of a program that writes its content alone
        return name, stream[4 : 4 + size]
    label, _, rest = stream[6:].partition(b"\x00")
    _, _, rest = rest.partition(b"\x00")  # the path that it had
    (length,) = struct.unpack_from("<I", rest, 4)
    (size,) = struct.unpack_from("<I", rest, 8 + length)
    content, rest = rest[12 + length : 12 + length + size], rest[12 + length + size :]
    shown = decode(label).text
    with suppress(struct.error):  # the same names again in Unicode: the path of a copy, the name, the path
        (copy,) = struct.unpack_from("<I", rest)
        (letters,) = struct.unpack_from("<I", rest, 4 + 2 * copy)
        shown = rest[8 + 2 * copy : 8 + 2 * (copy + letters)].decode("utf-16-le", "replace") or shown
    return shown or name, content
