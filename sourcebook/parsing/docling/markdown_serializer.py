"""docling documents as Markdown, with the offsets, page and box of each item."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from docling_core.transforms.serializer.base import BaseDocSerializer, SerializationResult
from docling_core.transforms.serializer.common import create_ser_result
from docling_core.transforms.serializer.markdown import (
    MarkdownDocSerializer,
    MarkdownInlineSerializer,
    MarkdownParams,
)
from docling_core.types.doc import (  # type: ignore[attr-defined] # exported, though not in __all__
    CodeItem,
    ContentLayer,
    DocItem,
    DoclingDocument,
    GroupItem,
    InlineGroup,
    ListGroup,
    NodeItem,
    PictureItem,
    SectionHeaderItem,
    TableItem,
    TextItem,
    TitleItem,
)
from pydantic import AnyUrl

from sourcebook.model.document import BlockKind, Box
from sourcebook.parsing.docling.table_serializer import PictureSerializer, TableSerializer, chart_table
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.markdown_writing import Piece, WrittenDocument, write_pieces

_LISTS = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
_PUNCTUATION = re.compile(r"[,.;:!?)\]]+(?:\s|$)|$")
_LINK = re.compile(r"\[[^\n]*\]\(")
_LAYERS = {ContentLayer.BODY, ContentLayer.NOTES}


def write_markdown(document: DoclingDocument, *, boxes: bool = False, own_spaces: bool = False) -> WrittenDocument:
    """Write the document's body in reading order, without images and placeholders; comments become quotes.

    Args:
        document: docling's document.
        boxes: whether blocks have a box, which requires pages measured in points.
        own_spaces: whether the parts of a sentence hold their spaces, except beside links, as in OpenDocument.
    """
    return write_pieces(piece if boxes else replace(piece, box=None) for piece in _pieces(document, own_spaces))


def texts_left_out(document: DoclingDocument) -> Iterator[str]:
    """Yield the texts of a document that `write_markdown` leaves out: headers, footers, hidden paragraphs."""
    for item, _ in document.iterate_items(included_content_layers=set(ContentLayer) - _LAYERS, traverse_pictures=True):
        match item:
            case TableItem():
                yield from (cell.text for cell in item.data.table_cells)
            case TextItem():
                yield item.text


class _InlineSerializer(MarkdownInlineSerializer):
    """Inline text without docling's space between a link or emphasis and the punctuation that follows."""

    def __init__(self, *, own_spaces: bool) -> None:
        self._own_spaces = own_spaces

    def serialize(
        self,
        *,
        item: InlineGroup,
        doc_serializer: BaseDocSerializer,
        doc: DoclingDocument,
        list_level: int = 0,
        visited: set[str] | None = None,
        **kwargs: Any,
    ) -> SerializationResult:
        parts = doc_serializer.get_parts(
            item=item, list_level=list_level, is_inline_scope=True, visited=visited, **kwargs
        )
        text, after_link = "", False
        for part in parts:
            is_link = _LINK.match(part.text) is not None
            joined = not text or text.endswith(("(", "[")) or _PUNCTUATION.match(part.text)
            has_space = self._own_spaces and is_link == after_link
            text += part.text if joined or has_space else f" {part.text}"
            after_link = is_link
        return create_ser_result(text=text, span_source=parts)


class _Serializer(MarkdownDocSerializer):
    """Documents with balanced parentheses in URLs, where docling writes %28 and %29.

    Metadata of pictures is left to the picture's serializer, which writes a chart's data as a table.
    """

    def serialize_meta(self, item: NodeItem, **kwargs: Any) -> SerializationResult:
        return create_ser_result() if isinstance(item, PictureItem) else super().serialize_meta(item, **kwargs)

    def serialize_hyperlink(self, text: str, hyperlink: AnyUrl | PurePath, **kwargs: Any) -> str:
        link = super().serialize_hyperlink(text, hyperlink, **kwargs)
        head, bracket, address = link.rpartition("](")
        readable = address[:-1].replace("%28", "(").replace("%29", ")")
        return f"{head}{bracket}{readable})" if _balanced(readable) else link


def _balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


_Place = tuple[int | None, Box | None]


def _pieces(document: DoclingDocument, own_spaces: bool) -> Iterator[Piece]:
    serializer = _Serializer(
        doc=document,
        table_serializer=TableSerializer(),
        picture_serializer=PictureSerializer(),
        inline_serializer=_InlineSerializer(own_spaces=own_spaces),
        params=MarkdownParams(
            layers=_LAYERS,
            image_placeholder="",
            escape_html=False,
            escape_underscores=False,
        ),
    )
    visited: set[str] = set(_caption_references(document))
    for node, level in document.iterate_items(
        with_groups=True,
        traverse_pictures=True,
        included_content_layers=_LAYERS,
    ):
        if node.self_ref in visited:
            continue
        visited.add(node.self_ref)
        if isinstance(node, GroupItem) and not isinstance(node, ListGroup | InlineGroup):
            continue
        # A table right behind a list in Word is a child of the list in docling's tree. The table is written first, so
        # that the list does not contain the text of its cells.
        tables = _tables_within(document, node, visited) if isinstance(node, ListGroup) else []
        visited.update(table.self_ref for table in tables)
        behind = [piece for table in tables for piece in _written(serializer, table, visited, level)]
        yield from _written(serializer, node, visited, level)
        yield from behind


def _written(serializer: _Serializer, node: NodeItem, visited: set[str], level: int) -> Iterator[Piece]:
    place = _place(serializer.doc, node)
    if isinstance(node, TableItem):
        yield Piece("paragraph", serializer.serialize_captions(item=node).text, *place)
    text = clean(serializer.serialize(item=node, visited=visited, level=level).text).strip()
    if text and node.content_layer == ContentLayer.NOTES:
        yield Piece("quote", "\n".join(f"> {line}".rstrip() for line in text.split("\n")), *place)
    else:
        yield Piece(_kind(node, text), text, *place)
    if isinstance(node, PictureItem):
        yield Piece("table", chart_table(node), *place)


def _tables_within(document: DoclingDocument, group: ListGroup, visited: AbstractSet[str]) -> list[TableItem]:
    inside = document.iterate_items(root=group, with_groups=True)
    return [node for node, _ in inside if isinstance(node, TableItem) and node.self_ref not in visited]


def _caption_references(document: DoclingDocument) -> AbstractSet[str]:
    """Return the captions of tables, pictures and code, which are written with those items."""
    floating = [*document.tables, *document.pictures, *document.key_value_items, *document.form_items]
    codes = [item for item in document.texts if isinstance(item, CodeItem)]
    return {caption.cref for item in [*floating, *codes] for caption in item.captions}


def _kind(node: NodeItem, text: str) -> BlockKind:
    match node:
        case TitleItem() | SectionHeaderItem():
            return "heading"
        case ListGroup():
            return "list"
        case TableItem():
            return "table"
        case CodeItem() if text.startswith("```"):
            return "code"
        case _:
            return "list" if _LISTS.match(text) else "paragraph"


def _place(document: DoclingDocument, node: NodeItem) -> _Place:
    """Return page and box of an item; for a group, the page of its first item and the box of its items on that page."""
    if isinstance(node, DocItem):
        return _provenance(document, node)
    places = [_place(document, child.resolve(document)) for child in node.children]
    first = next((page for page, _ in places if page is not None), None)
    boxes = [box for page, box in places if page == first and box is not None]
    if not boxes:
        return first, None
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return first, (min(lefts), min(tops), max(rights), max(bottoms))


def _provenance(document: DoclingDocument, item: DocItem) -> _Place:
    if not item.prov:
        return None, None
    number, box = item.prov[0].page_no, item.prov[0].bbox
    page = document.pages.get(number)
    if page is None or box.l >= box.r:
        return number, None
    upright = box.to_top_left_origin(page.size.height)
    return number, (round(upright.l, 1), round(upright.t, 1), round(upright.r, 1), round(upright.b, 1))
