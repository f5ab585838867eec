"""Write a docling document as Markdown, keeping where each of its items lies in the text."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from docling_core.transforms.serializer.base import BaseDocSerializer, SerializationResult
from docling_core.transforms.serializer.common import create_ser_result
from docling_core.transforms.serializer.markdown import (
    MarkdownDocSerializer,
    MarkdownParams,
    MarkdownTableSerializer,
)
from docling_core.types.doc import (  # type: ignore[attr-defined] # exported, though not in __all__
    CodeItem,
    ContentLayer,
    DocItem,
    DoclingDocument,
    GroupItem,
    GroupLabel,
    InlineGroup,
    ListGroup,
    NodeItem,
    RichTableCell,
    SectionHeaderItem,
    TableItem,
    TitleItem,
)

from sourcebook.parsing.decode import clean
from sourcebook.parsing.headings import plain_title
from sourcebook.parsing.markdown_table import markdown_table
from sourcebook.parsing.types import Block, BlockKind

_HEADING = re.compile(r"(#{1,6}) ")
_LISTS = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")


@dataclass(frozen=True, slots=True)
class WrittenDocument:
    """Markdown and the blocks that lie in it."""

    markdown: str
    blocks: tuple[Block, ...]


class _TableSerializer(MarkdownTableSerializer):
    """Docling aligns columns with tabulate: 1.7 s for 10,000 rows, and spaces that cost tokens."""

    def serialize(
        self,
        *,
        item: TableItem,
        doc_serializer: BaseDocSerializer,
        doc: DoclingDocument,
        **kwargs: Any,  # docling's signature
    ) -> SerializationResult:
        grid = item.data.grid
        plain = not any(isinstance(cell, RichTableCell) for cell in item.data.table_cells)
        several_header_rows = len(grid) > 1 and any(cell.column_header for cell in grid[1])
        if not plain or several_header_rows or kwargs.get("_nested_in_table"):
            return super().serialize(item=item, doc_serializer=doc_serializer, doc=doc, **kwargs)
        caption = doc_serializer.serialize_captions(item=item, **kwargs).text
        table = markdown_table([[cell.text for cell in row] for row in grid])
        return create_ser_result(text="\n\n".join(part for part in (caption, table) if part), span_source=item)


def write_markdown(document: DoclingDocument) -> WrittenDocument:
    """Write the document's body in reading order: no images, no placeholders, sheets under their names."""
    texts: list[str] = []
    blocks: list[Block] = []
    length = 0
    for kind, text, page in _pieces(document):
        heading = _HEADING.match(text) if kind == "heading" else None
        level, title = (len(heading[1]), plain_title(text[heading.end() :])) if heading else (0, "")
        blocks.append(Block(kind, length, length + len(text), level=level, title=title, page=page))
        texts.append(text)
        length += len(text) + 2
    markdown = "\n\n".join(texts)
    return WrittenDocument(f"{markdown}\n" if markdown else "", tuple(blocks))


def _pieces(document: DoclingDocument) -> Iterator[tuple[BlockKind, str, int | None]]:
    serializer = MarkdownDocSerializer(
        doc=document,
        table_serializer=_TableSerializer(),
        params=MarkdownParams(
            image_placeholder="",
            compact_tables=True,
            escape_html=False,
            escape_underscores=False,
        ),
    )
    visited: set[str] = set(_caption_references(document))
    sheet = 0
    for node, level in document.iterate_items(
        with_groups=True,
        traverse_pictures=True,
        included_content_layers={ContentLayer.BODY},
    ):
        if node.self_ref in visited:
            continue
        visited.add(node.self_ref)
        if isinstance(node, GroupItem) and not isinstance(node, ListGroup | InlineGroup):
            if node.label == GroupLabel.SHEET:
                sheet += 1
                yield "heading", f"## {_sheet_name(node)}", _page(document, node) or sheet
            continue
        # A table right behind a list in Word is a child of the list in docling's tree.
        tables = _tables_within(document, node, visited) if isinstance(node, ListGroup) else []
        visited.update(table.self_ref for table in tables)
        for part in (node, *tables):
            text = clean(serializer.serialize(item=part, visited=visited, level=level).text).strip()
            if text:
                yield _kind(part, text), text, _page(document, part) or sheet or None


def _tables_within(document: DoclingDocument, group: ListGroup, visited: AbstractSet[str]) -> list[TableItem]:
    inside = document.iterate_items(root=group, with_groups=True)
    return [node for node, _ in inside if isinstance(node, TableItem) and node.self_ref not in visited]


def _caption_references(document: DoclingDocument) -> AbstractSet[str]:
    """Captions are written with the table or picture they belong to."""
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


def _page(document: DoclingDocument, node: NodeItem) -> int | None:
    """Return the page of an item, or of the first item inside a group."""
    if isinstance(node, DocItem):
        return node.prov[0].page_no if node.prov else None
    for child in node.children:
        page = _page(document, child.resolve(document))
        if page is not None:
            return page
    return None


def _sheet_name(group: GroupItem) -> str:
    return " ".join(group.name.removeprefix("sheet: ").split())
