"""Documents of other formats within a Word document (`altChunk`), which Word joins to it when it opens the file."""

from collections.abc import Iterator
from typing import Any, Final

from docx.document import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph

from sourcebook.errors import ParseError
from sourcebook.model.media_types import HTML, MHTML, PLAIN_TEXT, RTF
from sourcebook.parsing.media_type import HEAD_BYTES, detect_media_type

_READ: Final = frozenset({HTML, MHTML, PLAIN_TEXT, RTF})
_CHUNK: Final = qn("w:altChunk")


def write_out_chunks(document: Document) -> list[str]:
    """Put the paragraphs of each such document in its place; return the names of those that are not read.

    Programs that make Word files of web pages write all of their text so. A Word document in another one is not read.
    """
    unread = []
    for chunk in list(document.element.body.iter(_CHUNK)):
        part = _part(document, chunk.get(qn("r:id"), ""))
        texts = None if part is None else _texts(part)
        if part is not None and texts is None:
            unread.append(f"part {part.partname.lstrip('/')}")
        for text in texts or ():
            own = OxmlElement("w:p")
            marks, _, title = text.partition(" ")
            level = len(marks) if marks and not marks.strip("#") and "\n" not in text else 0
            chunk.addprevious(own)
            paragraph = Paragraph(own, document._body)  # noqa: SLF001 - the parent that python-docx gives paragraphs
            paragraph.add_run(title if level else text)
            if level:
                paragraph.style = _heading_style(document, level)
        chunk.getparent().remove(chunk)
    return unread


def _part(document: Document, identity: str) -> Any:
    relationship = document.part.rels.get(identity)
    return None if relationship is None or relationship.is_external else relationship.target_part


def _texts(part: Any) -> list[str] | None:
    """Return the blocks of a part as Markdown; None where its format is not read, or it is damaged."""
    from sourcebook.parsing.parse import parse

    media_type = detect_media_type(str(part.partname), part.blob[:HEAD_BYTES])
    if media_type not in _READ:
        return None
    try:
        read = parse(part.blob, name=str(part.partname), media_type=media_type)
    except ParseError:
        return None
    return list(_blocks(read.markdown, [(block.start, block.end) for block in read.blocks]))


def _blocks(markdown: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    reached = 0
    for start, end in spans:
        if start >= reached and markdown[start:end].strip():
            yield markdown[start:end].strip("\n")
            reached = end


def _heading_style(document: Document, level: int) -> Any:
    """Return the style that docling reads as a heading of a level, from 1."""
    name = "Title" if level == 1 else f"Heading {level - 1}"
    if name not in document.styles:
        return document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH, builtin=True)
    return document.styles[name]
