"""Presentations: each slide is a section with its title first, its notes labelled, and hidden slides marked."""

from typing import Any

from docling.backend.mspowerpoint_backend import MsPowerpointDocumentBackend
from docling_core.types.doc import (  # type: ignore[attr-defined] # exported, though not in __all__
    ContentLayer,
    DocItem,
    DocItemLabel,
    DoclingDocument,
    GroupItem,
    GroupLabel,
    NodeItem,
    TextItem,
    TitleItem,
)
from pptx.oxml.ns import qn
from pptx.presentation import Presentation
from pptx.slide import Slide
from pptx.util import Inches, Length

from sourcebook.parsing.docling.backends import open_backend
from sourcebook.parsing.docling.markdown_serializer import texts_left_out, write_markdown
from sourcebook.parsing.docling.table_serializer import title_with_values
from sourcebook.parsing.office.diagrams import REFERENCE, diagram_texts
from sourcebook.parsing.office.notes_and_comments import comment_sentence
from sourcebook.parsing.office.picture_parts import mark_of_pictures
from sourcebook.parsing.text.descriptions import is_decorative, picture_words
from sourcebook.parsing.text.left_out import LeftOut, left_out_of
from sourcebook.parsing.text.markdown_writing import WrittenDocument
from sourcebook.parsing.text.picture_marks import MARK

_COMMENT = "comment-slide"
_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_HOLDERS = {qn("p:spTree"), qn("p:grpSp")}
_LONGEST_TITLE = 80
"""Characters of the first text of a slide that is taken for its title."""
_USUAL_SIZE = Inches(10), Inches(7.5)
"""Width and height that PowerPoint takes for a presentation that states none."""


class SlidesBackend(MsPowerpointDocumentBackend):
    """docling's reader of presentations, without pictures.

    Slides whose part is missing are left out, and a presentation without slide size gets the usual one: docling would
    refuse both.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # docling's signature
        super().__init__(*args, **kwargs)
        if self.pptx_obj is not None:
            _mend(self.pptx_obj)
            for slide in self.pptx_obj.slides:
                _choose_new_shapes(slide)
                _write_out_diagrams(slide)
                _write_out_pictures(slide)

    def _chart_title_text(self, chart: Any) -> str | None:  # type: ignore[override] # it is static in docling
        axes = chart.element.chart.plotArea.xpath("./c:valAx")
        return title_with_values(super()._chart_title_text(chart), map(self._axis_title_text, axes))

    def _handle_pictures(self, *args: Any, **kwargs: Any) -> None:  # docling has no option that leaves them out
        pass


def _mend(presentation: Presentation) -> None:
    listed = presentation.element.sldIdLst
    for slide in list(listed if listed is not None else ()):
        if slide.rId not in presentation.part.rels:
            listed.remove(slide)
    if presentation.slide_width is None or presentation.slide_height is None:
        presentation.slide_width, presentation.slide_height = _USUAL_SIZE


def _choose_new_shapes(slide: Slide) -> None:
    """Put shapes for new programs, such as text with equations, in the place of the choice that docling leaves out."""
    for choice in reversed(list(slide.element.iter(_ALTERNATIVES))):
        if choice.getparent().tag in _HOLDERS:
            for shape in next((list(form) for form in choice if len(form)), ()):
                choice.addprevious(shape)
            choice.getparent().remove(choice)


def _write_out_diagrams(slide: Slide) -> None:
    """Put a text box with the text of a diagram in its place: docling leaves diagrams out."""
    for reference in list(slide.element.iter(REFERENCE)):
        frame = next(reference.iterancestors(qn("p:graphicFrame")), None)
        texts = diagram_texts(reference, slide.part)
        if frame is None or not texts:
            continue
        box = slide.shapes.add_textbox(*_place(frame))
        for number, (level, text) in enumerate(texts):
            paragraph = box.text_frame.paragraphs[0] if not number else box.text_frame.add_paragraph()
            paragraph.text, paragraph.level = text, level
        frame.getparent().replace(frame, box.element)


def _write_out_pictures(slide: Slide) -> None:
    """Put a text box with the description and the mark of a picture behind it, or behind the shape that it fills."""
    held: dict[Any, list[str]] = {}
    for picture in slide.element.iter(qn("a:blip")):
        holder = next(picture.iterancestors(qn("p:pic"), qn("p:sp"), qn("p:bg")), None)
        if holder is not None and holder not in held:
            named = next(holder.iter(qn("p:cNvPr")), None)
            if named is not None and named.get("hidden") == "1":
                continue
            held[holder] = [_described(named), mark_of_pictures(holder, slide.part)]
    for holder, texts in held.items():
        if any(texts):
            box = slide.shapes.add_textbox(*_place(holder))
            box.text_frame.text = "\n".join(filter(None, texts))
            if holder.tag != qn("p:bg"):
                holder.addnext(box.element)


def _described(properties: Any) -> str:
    if properties is None or is_decorative(properties):
        return ""
    return picture_words(properties.get("descr"), name=properties.get("name"))


def _place(frame: Any) -> tuple[Length, Length, Length, Length]:
    """Return left, top, width and height of a frame, 0 where it has none."""
    is_placed = frame.find(qn("p:xfrm")) is not None
    left, top, width, height = (frame.x, frame.y, frame.cx, frame.cy) if is_placed else (0, 0, 0, 0)
    return Length(left or 0), Length(top or 0), Length(width or 0), Length(height or 0)


def read_slides(content: bytes, *, name: str) -> tuple[WrittenDocument, int, LeftOut]:
    """Read a presentation: one section per slide, with its notes.

    Returns:
        The Markdown, the number of slides, and the account of footers and hidden shapes, which are left out; numbers of
        slides are in no account.

    Raises:
        ParseError: docling or python-pptx refuses the file.
    """
    document = open_backend(content, SlidesBackend, name=name, docling_format="pptx").convert()
    arrange_slides(document)
    written = write_markdown(document)
    left_out = (text for text in texts_left_out(document) if any(letter.isalpha() for letter in text))
    return written, len(document.pages), left_out_of([*left_out], kept=len(written.markdown))


def arrange_slides(document: DoclingDocument) -> None:
    """Begin each slide that is not empty with its title, and end it with notes and comments.

    The title of a slide without one is its first text if that is short, else `Slide N`.
    """
    comments = _comments_by_slide(document)
    held = {comment.self_ref for group in comments.values() for comment in group}
    document.body.children = [child for child in document.body.children if child.cref not in held]
    slides = [group for group in document.groups if group.label == GroupLabel.CHAPTER and group.parent is not None]
    for number, slide in enumerate(slides, start=1):
        hidden = slide.content_layer == ContentLayer.INVISIBLE
        for comment in comments.get(number, []):
            slide.children.append(comment.get_ref())
            comment.parent = slide.get_ref()
        if not slide.children:
            continue
        if hidden:
            _show(document, slide)
        _introduce_notes(document, slide)
        _begin_with_title(document, slide, number, hidden=hidden)


def _comments_by_slide(document: DoclingDocument) -> dict[int, list[GroupItem]]:
    found: dict[int, list[GroupItem]] = {}
    for group in document.groups:
        number = group.name.removeprefix(_COMMENT).partition("-")[0]
        if group.label == GroupLabel.COMMENT_SECTION and group.name.startswith(_COMMENT) and number.isdigit():
            found.setdefault(int(number), []).append(group)
            for child in group.children:
                text = child.resolve(document)
                text.text = comment_sentence(text.text)
    return found


def _show(document: DoclingDocument, slide: GroupItem) -> None:
    """Make the items of a hidden slide visible; hidden items on visible slides stay hidden."""
    for node, _ in document.iterate_items(
        root=slide, with_groups=True, traverse_pictures=True, included_content_layers={ContentLayer.INVISIBLE}
    ):
        node.content_layer = ContentLayer.BODY


def _introduce_notes(document: DoclingDocument, slide: GroupItem) -> None:
    for reference in slide.children:
        item = reference.resolve(document)
        if isinstance(item, DocItem) and item.content_layer == ContentLayer.NOTES:
            item.text = f"Speaker notes: {item.text}"  # type: ignore[attr-defined] # notes are texts


def _reads_as_title(item: NodeItem) -> bool:
    """Tell whether the first text of a slide without a title is one: people write titles into text boxes."""
    return (
        isinstance(item, TextItem)
        and item.label in {DocItemLabel.TEXT, DocItemLabel.PARAGRAPH}
        and item.content_layer == ContentLayer.BODY
        and 0 < len(item.text.strip()) <= _LONGEST_TITLE
        and MARK.search(item.text) is None
    )


def _begin_with_title(document: DoclingDocument, slide: GroupItem, number: int, *, hidden: bool) -> None:
    children = [reference.resolve(document) for reference in slide.children]
    titles = [child for child in children if isinstance(child, TitleItem) and child.text.strip()]
    titles = titles or [child for child in children[:1] if _reads_as_title(child)]
    text = " ".join(" ".join(title.text for title in titles).split())
    first = document.add_text(
        label=DocItemLabel.TITLE,
        text=(text or f"Slide {number}") + (" (hidden)" if hidden else ""),
        parent=slide,
        prov=next((child.prov[0] for child in [*titles, *children] if isinstance(child, DocItem) and child.prov), None),
    )
    if titles and titles[0].hyperlink is not None:
        first.hyperlink = titles[0].hyperlink
    replaced = {title.self_ref for title in titles}
    rest = [child for child in slide.children if child.cref not in replaced | {first.self_ref}]
    slide.children[:] = [first.get_ref(), *rest]
