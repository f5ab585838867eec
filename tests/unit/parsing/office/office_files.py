"""Office files for tests: what the libraries write, and the same with some of its parts changed."""

import struct
from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import docx
import openpyxl  # type: ignore[import-untyped] # its stubs are a package of their own
import pptx
from docx.document import Document
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.text.paragraph import Paragraph

from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover

_RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
Change = Callable[[bytes], bytes]


def parse_named(name: str, content: bytes) -> ParsedDocument:
    document = parse(content, name=name, media_type=detect_media_type(name, content[:4096]))
    assert_blocks_cover(document)
    return document


def saved(document: object) -> bytes:
    buffer = BytesIO()
    document.save(buffer)  # type: ignore[attr-defined] # three libraries, one method
    return buffer.getvalue()


def word_file(text: str = "hello") -> bytes:
    document = docx.Document()
    document.add_paragraph(text)
    return saved(document)


def slides_file(title: str = "hello") -> bytes:
    presentation = pptx.Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = title
    return saved(presentation)


def workbook_file(text: str = "hello") -> bytes:
    workbook = openpyxl.Workbook()
    workbook.active.append([text, "b"])
    return saved(workbook)


def changed(content: bytes, changes: Mapping[str, Change]) -> bytes:
    """Return the archive with some of its members changed; one that is not there is made from nothing."""
    copy = BytesIO()
    with ZipFile(BytesIO(content)) as source, ZipFile(copy, "w", ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, changes[name](data) if name in changes else data)
        for name in changes.keys() - set(source.namelist()):
            target.writestr(name, changes[name](b""))
    return copy.getvalue()


def add_notes(document: Document, kind: str, notes: Mapping[int, str]) -> None:
    """Add the part of all `footnotes` or `endnotes`, as Word writes it."""
    tag = kind.removesuffix("s")
    body = "".join(
        f'<w:{tag} w:id="{number}"><w:p><w:r><w:{tag}Ref/></w:r><w:r><w:t>{text}</w:t></w:r></w:p></w:{tag}>'
        for number, text in notes.items()
    )
    separator = f'<w:{tag} w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:{tag}>'
    xml = f'<?xml version="1.0" encoding="UTF-8"?><w:{kind} {nsdecls("w")}>{separator}{body}</w:{kind}>'
    content_type = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{kind}+xml"
    part = Part(PackURI(f"/word/{kind}.xml"), content_type, xml.encode(), document.part.package)
    document.part.relate_to(part, _RELATIONSHIPS + kind)


def add_reference(paragraph: Paragraph, kind: str, number: int) -> None:
    """Add the mark of a `footnote` or `endnote` to a paragraph."""
    style = '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
    append_xml(paragraph, f'<w:r>{style}<w:{kind}Reference w:id="{number}"/></w:r>')


def append_xml(paragraph: Paragraph, xml: str) -> None:
    opening, rest = xml.split(">", 1) if not xml.split(">", 1)[0].endswith("/") else (xml[:-2], "")
    paragraph._p.append(parse_xml(f"{opening} {nsdecls('w')}>{rest}" if rest else f"{opening} {nsdecls('w')}/>"))


def with_embedded(files: Mapping[str, bytes]) -> bytes:
    """Return a Word file that holds these files."""
    content = word_file("Within are files.")
    return changed(content, {f"word/embeddings/{name}": partial(_replace, file) for name, file in files.items()})


def _replace(own: bytes, _: bytes) -> bytes:
    return own


def ole_file(*streams: str) -> bytes:
    """Return a compound file with empty streams of these names (at most three)."""
    free, end, fat = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<I", 0)
    header += struct.pack("<I", free) * 108
    table = struct.pack("<II", fat, end) + struct.pack("<I", free) * 126
    entries = [_entry("Root Entry", 5, child=1)]
    entries += [
        _entry(name, 2, right=number + 1 if number < len(streams) else free) for number, name in enumerate(streams, 1)
    ]
    entries += [_entry("", 0)] * (4 - len(entries))
    return header + table + b"".join(entries)


def _entry(name: str, kind: int, *, child: int = 0xFFFFFFFF, right: int = 0xFFFFFFFF) -> bytes:
    encoded = name.encode("utf-16-le") + b"\x00\x00" if name else b""
    links = struct.pack("<HBBIII", len(encoded), kind, 1, 0xFFFFFFFF, right, child)
    return encoded.ljust(64, b"\x00") + links + bytes(36) + struct.pack("<IQ", 0xFFFFFFFE, 0)
