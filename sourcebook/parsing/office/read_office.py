"""Word, PowerPoint and Excel files."""

import re
from base64 import b64decode
from io import BytesIO
from typing import Final
from zipfile import ZipFile

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.model.document import ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.model.media_types import DOCX, PPTX, XLSX
from sourcebook.parsing.docling.backends import import_without_models
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.markup.xml_tree import descendants, first_of, xml_root
from sourcebook.parsing.office.core_properties import read_core_properties
from sourcebook.parsing.office.embedded_files import attachments_within
from sourcebook.parsing.office.office_archive import OfficeArchive, open_office_archive
from sourcebook.parsing.text.left_out import LeftOut
from sourcebook.parsing.text.markdown_writing import WrittenDocument
from sourcebook.parsing.text.titles import document_title

_NUMBERED_SLIDE = re.compile(r"Slide \d+(?: \(hidden\))?")
"""Heading of a slide that has no title."""
_EXTENSIONS = {DOCX: "docx", PPTX: "pptx", XLSX: "xlsx"}
_PACKAGE: Final = "{http://schemas.microsoft.com/office/2006/xmlPackage}"
_FLAT: Final = b"http://schemas.microsoft.com/office/2006/xmlPackage"
_TYPES: Final = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{}</Types>'
_TYPE: Final = '<Override PartName="{}" ContentType="{}"/>'


def parse_office(content: bytes, *, name: str, media_type: str) -> ParsedDocument:
    """Parse a document, presentation or workbook; slides and sheets count as pages.

    The file's content decides over its media type: a workbook named .docx is read as a workbook. Links are not
    fetched, and macros are not read.

    Args:
        content: the whole file.
        name: file name, path or URI.
        media_type: the media type of a Word, PowerPoint or Excel file.

    Raises:
        ParseError: the file is damaged, protected, too large, or no office document.
    """
    named = _EXTENSIONS[media_type]
    archive = open_office_archive(archive_of_flat(content), named=named)
    properties = dict(read_core_properties(archive.content, named=named))
    title = properties.pop("title", None)
    written, pages, left_out, prompts = _read(archive, name)
    written, attachments, objects = attachments_within(content, written)
    markdown, blocks = written.markdown, written.blocks
    if not isinstance(title, str):
        title = None if archive.office_format == "xlsx" else document_title(blocks, markdown)
        title = None if title and _NUMBERED_SLIDE.fullmatch(title) else title
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=title,
        page_count=pages,
        language=detect_language(markdown, blocks),
        metadata=with_left_out(
            properties | left_out.metadata(), {**left_out.counts, "prompts": prompts, "objects": objects}
        ),
        attachments=attachments,
        nothing_to_read="it has no slides" if archive.office_format == "pptx" and pages is None else None,
    )


def _read(archive: OfficeArchive, name: str) -> tuple[WrittenDocument, int | None, LeftOut, int]:
    """Return the Markdown with its blocks, the number of pages, what is left out, and the number of empty fields."""
    import_without_models()
    match archive.office_format:
        case "xlsx":
            from sourcebook.parsing.office.workbook import read_workbook

            return *read_workbook(archive.content, name=name), 0
        case "docx":
            from sourcebook.parsing.office.word import read_word

            written, left_out, prompts = read_word(archive.content, name=name)
            return written, None, left_out, prompts
        case "pptx":
            from sourcebook.parsing.office.slides import read_slides

            written, slides, left_out = read_slides(archive.content, name=name)
            return written, slides or None, left_out, 0


def archive_of_flat(content: bytes) -> bytes:
    """Return the archive that a document of one XML file stands for; another file as it is.

    Raises:
        ParseError: the XML is damaged.
    """
    if _FLAT not in content[:4096]:
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
