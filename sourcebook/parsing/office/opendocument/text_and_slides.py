"""Texts and presentations of OpenDocument, with notes at their references and slides as pages."""

from typing import Any, Final

from docling.backend.opendocument_backend import OdpDocumentBackend, OdtDocumentBackend
from docling_core.types.doc import (  # type: ignore[attr-defined] # exported, though not in __all__
    BoundingBox,
    ContentLayer,
    DocItem,
    DocItemLabel,
    DoclingDocument,
    GroupLabel,
    ProvenanceItem,
    Size,
)

from sourcebook.model.media_types import ODP, ODT
from sourcebook.parsing.docling.backends import open_backend
from sourcebook.parsing.docling.markdown_serializer import texts_left_out, write_markdown
from sourcebook.parsing.office.notes_and_comments import place_remarks
from sourcebook.parsing.office.office_archive import opened_archive
from sourcebook.parsing.office.opendocument.opendocument_archive import (
    DRAWN,
    PARAGRAPHS,
    mark_pictures,
    qualified,
    remove,
    shown_text,
    with_content,
    without_pictures,
)
from sourcebook.parsing.office.opendocument.text_markup import remove_hidden, write_formulas, write_plain_markup
from sourcebook.parsing.office.slides import arrange_slides
from sourcebook.parsing.text.left_out import LeftOut, left_out_of
from sourcebook.parsing.text.markdown_writing import WrittenDocument

_BLOCKS: Final = (*PARAGRAPHS, qualified("text:list"), qualified("table:table"))
_DESCRIPTIONS: Final = (qualified("svg:title"), qualified("svg:desc"))


class _SlidesBackend(OdpDocumentBackend):
    """docling's reader of presentations, without the names of slides (`page1`) as titles."""

    @staticmethod
    def _slide_has_visible_title(page: Any) -> bool:
        return True


def read_text(content: bytes, root: Any, *, name: str) -> tuple[WrittenDocument, LeftOut]:
    """Read a text: `[^1]` at a note's reference, and the note next to the text it belongs to.

    Args:
        content: the whole file.
        root: root of its `content.xml`, which is changed.
        name: file name, path or URI.

    Returns:
        The Markdown, and the account of headers, footers and hidden text, which are left out.

    Raises:
        ParseError: docling refuses the file.
    """
    with opened_archive(content, named="odt") as archive:
        mark_pictures(root, archive)
    without_pictures(root)
    for unnumbered in list(root.iter(qualified("text:list-header"))):  # docling reads items only
        unnumbered.tag = qualified("text:list-item")
    hidden = remove_hidden(root)
    with opened_archive(content, named="odt") as archive:
        write_formulas(root, archive)
    _unbox(root)
    write_plain_markup(root)
    notes = _marked_notes(root)
    plain = with_content(content, root, named="odt", media_type=ODT)
    document = open_backend(plain, OdtDocumentBackend, name=name, docling_format="odt").convert()
    for text in notes:
        document.add_text(label=DocItemLabel.FOOTNOTE, text=text)
    place_remarks(document)
    written = write_markdown(document, own_spaces=True)
    return written, left_out_of([*hidden, *texts_left_out(document)], kept=len(written.markdown))


def read_slides(content: bytes, root: Any, *, name: str) -> tuple[WrittenDocument, int]:
    """Read a presentation: one section a slide, with its notes; the arguments are those of `read_text`."""
    with opened_archive(content, named="odp") as archive:
        mark_pictures(root, archive)
    without_pictures(root)
    plain = with_content(content, root, named="odp", media_type=ODP)
    document = open_backend(plain, _SlidesBackend, name=name, docling_format="odp").convert()
    slides = [group for group in document.groups if group.label == GroupLabel.CHAPTER]
    for number, slide in enumerate(slides, start=1):
        _number(document, slide, number)
    arrange_slides(document)
    return write_markdown(document, own_spaces=True), len(slides)


def _unbox(root: Any) -> None:
    """Move the contents of text boxes and shapes, and the descriptions of pictures, behind their paragraph.

    docling glues them to the words around them, and leaves out boxes that are anchored to a page.
    """
    for box in reversed(list(root.iter(DRAWN))):
        above = list(box.iterancestors())
        place = next((each for each in above if each.tag in PARAGRAPHS), None)
        if place is None:
            place = [box, *(each for each in above if each.tag.startswith(DRAWN[:-1]))][-1]
        for child in reversed(box):
            if child.tag in _DESCRIPTIONS:
                child.tag = PARAGRAPHS[0]
            elif child.tag not in _BLOCKS:
                continue
            child.tail = None
            place.addnext(child)


def _marked_notes(root: Any) -> list[str]:
    """Replace footnotes and endnotes by their marks, and return their texts."""
    texts: list[str] = []
    for note in list(root.iter(qualified("text:note"))):
        body = note.find(qualified("text:note-body"))
        shown = "" if body is None else " ".join(" ".join(shown_text(each) for each in body).split())
        if shown:
            texts.append(f"[^{len(texts) + 1}]: {shown}")
        remove(note, mark=f"[^{len(texts)}]" if shown else "")
    return texts


def _number(document: DoclingDocument, slide: Any, number: int) -> None:
    """Give each item of a slide the slide's number as its page."""
    document.add_page(page_no=number, size=Size(width=0, height=0))
    place = ProvenanceItem(page_no=number, bbox=BoundingBox(l=0, t=0, r=0, b=0), charspan=(0, 0))
    layers = {ContentLayer.BODY, ContentLayer.NOTES, ContentLayer.INVISIBLE}
    for item, _ in document.iterate_items(root=slide, with_groups=True, included_content_layers=layers):
        if isinstance(item, DocItem):
            item.prov = [place]
