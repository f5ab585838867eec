"""Word documents, with footnotes and endnotes at their references.

docling has no options for notes, pictures and formats within words, so its backend's methods for them are overridden.
"""

import itertools
from collections.abc import Iterator
from typing import Any

from docling.backend.msword_backend import MsWordDocumentBackend
from docling_core.types.doc import (  # type: ignore[attr-defined] # exported, though not in __all__
    DocItemLabel,
    DoclingDocument,
    RefItem,
)
from docx.document import Document
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from docx.text.run import Run

from sourcebook.parsing.docling.backends import open_backend
from sourcebook.parsing.docling.markdown_serializer import texts_left_out, write_markdown
from sourcebook.parsing.docling.table_serializer import title_with_values
from sourcebook.parsing.office.diagrams import REFERENCE, diagram_texts
from sourcebook.parsing.office.notes_and_comments import place_remarks
from sourcebook.parsing.office.picture_parts import mark_pictures
from sourcebook.parsing.office.word_chunks import write_out_chunks
from sourcebook.parsing.office.word_markup import PlainMarkup
from sourcebook.parsing.text.left_out import LeftOut, left_out_of
from sourcebook.parsing.text.markdown_writing import WrittenDocument

_NOTES = {
    qn("w:footnoteReference"): ("footnotes", qn("w:footnote")),
    qn("w:endnoteReference"): ("endnotes", qn("w:endnote")),
}
_RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_DRAWN_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_VALUE_TITLES = ".//{*}valAx/{*}title"


class WordBackend(MsWordDocumentBackend):
    """docling's reader of Word files, with `[^1]` at a note's reference and `[^1]: …` as the note's text.

    docling leaves the references out and puts the notes among page headers. It also decodes every picture, and lets
    LibreOffice draw shapes where that is installed. This reader leaves pictures out and keeps the text in shapes.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # docling's signature
        super().__init__(*args, **kwargs)
        self.docx_to_pdf_converter_init = True  # no search for LibreOffice
        self._numbers: dict[tuple[str, str], int] = {}
        if self.docx_obj is not None:
            self.unread_chunks = write_out_chunks(self.docx_obj)
            self._markup = PlainMarkup(self.docx_obj)
            self.empty_fields = self._markup.write_document()
            mark_pictures(self.docx_obj.element.body, self.docx_obj.part)
            self.hidden_texts = tuple(self._hidden_texts(self.docx_obj)) if self._uses_hidden_text else ()
            self._number_notes(self.docx_obj)
            _write_out_diagrams(self.docx_obj)

    def _chart_title_text(self, chart_root: Any) -> str | None:
        axes = ("".join(axis.itertext(_DRAWN_TEXT)).strip() for axis in chart_root.iterfind(_VALUE_TITLES))
        return title_with_values(super()._chart_title_text(chart_root), axes)

    def _hidden_texts(self, document: Document) -> Iterator[str]:
        """Yield the hidden words of each paragraph that shows others; docling names paragraphs without any itself."""
        for element in document.element.body.iter(qn("w:p")):
            paragraph = Paragraph(element, document)
            if not self._is_hidden_paragraph(paragraph):
                styles = self._get_style_chain(paragraph.style)
                runs = (Run(run, paragraph) for run in element.iterchildren(qn("w:r")))
                yield "".join(run.text for run in runs if self._is_hidden_run(run, styles))

    def _handle_pictures(self, drawing_blip: Any, doc: DoclingDocument) -> list[RefItem]:
        return []

    def _handle_vml_pictures(self, vml_imagedatas: Any, doc: DoclingDocument) -> list[RefItem]:
        return []

    def _iter_paragraph_content(self, paragraph: Paragraph) -> list[tuple[str, Any, Any]]:
        """Extend formats to whole words, because docling writes `H 2 O` where the 2 is a subscript."""
        content: list[tuple[str, Any, Any]] = []
        for text, formatting, link in super()._iter_paragraph_content(paragraph):
            before, formatting_before, link_before = content[-1] if content else ("", None, None)
            within_word = before[-1:].isalnum() and text[:1].isalnum() and link is None and link_before is None
            content.append((text, formatting_before if within_word else formatting, link))
        return content

    def _number_notes(self, document: Document) -> None:
        counter = itertools.count(1)
        for reference in list(document.element.body.iter(*_NOTES)):
            part, _ = _NOTES[reference.tag]
            key = part, reference.get(qn("w:id"), "")
            if key not in self._numbers:
                self._numbers[key] = next(counter)
            _write_reference(reference, f"[^{self._numbers[key]}]")

    def _add_footnotes_and_endnotes(self, docx_obj: Document, doc: DoclingDocument) -> None:
        texts: dict[int, str] = {}
        for part, tag in _NOTES.values():
            for note in self._notes(docx_obj, part, tag):
                number = self._numbers.get((part, note.get(qn("w:id"), "")))
                if number is not None and number not in texts:
                    texts[number] = self._note_text(note, docx_obj)
        for number, text in sorted(texts.items()):
            if text:
                doc.add_text(label=DocItemLabel.FOOTNOTE, text=f"[^{number}]: {text}")

    def _notes(self, document: Document, part: str, tag: str) -> Iterator[Any]:
        """Yield the XML elements of the notes; a missing or external part has none."""
        for relationship in document.part.rels.values():
            if relationship.reltype == _RELATIONSHIPS + part and not relationship.is_external:
                root = parse_xml(relationship.target_part.blob)
                self.empty_fields += self._markup.write(root)
                yield from root.iter(tag)

    def _note_text(self, note: Any, docx_obj: Document) -> str:
        paragraphs = (Paragraph(element, docx_obj) for element in note.iter(qn("w:p")))
        shown = (self._get_paragraph_text(paragraph) for paragraph in paragraphs)
        return " ".join(" ".join(shown).split())


def _write_reference(reference: Any, mark: str) -> None:
    """Replace a reference by its mark, directly behind the text before it."""
    run = reference.getparent()
    before = run.getprevious()
    text = before.findall(qn("w:t")) if before is not None and before.tag == qn("w:r") else []
    if text and before[-1] is text[-1]:
        text[-1].text = f"{text[-1].text or ''}{mark}"
        run.remove(reference)
        return
    own = OxmlElement("w:t")
    own.text = mark
    run.replace(reference, own)


def _write_out_diagrams(document: Document) -> None:
    """Write the text of each diagram as paragraphs behind the one that shows it: docling leaves diagrams out."""
    for reference in list(document.element.body.iter(REFERENCE)):
        before: Any = next(reference.iterancestors(qn("w:p")), None)
        for _, text in diagram_texts(reference, document.part) if before is not None else ():
            own = OxmlElement("w:p")
            Paragraph(own, document).add_run(text)
            before.addnext(own)
            before = own


def read_word(content: bytes, *, name: str) -> tuple[WrittenDocument, LeftOut, int]:
    """Read a Word document, with its notes and comments next to the text they belong to.

    Returns:
        The Markdown, the account of headers, footers and hidden text, which are left out, and the number of empty
        fields.

    Raises:
        ParseError: docling or python-docx refuses the file.
    """
    backend = open_backend(content, WordBackend, name=name, docling_format="docx")
    document = backend.convert()
    place_remarks(document)
    written = write_markdown(document)
    unread = [*texts_left_out(document), *backend.hidden_texts, *backend.unread_chunks]
    return written, left_out_of(unread, kept=len(written.markdown)), backend.empty_fields
