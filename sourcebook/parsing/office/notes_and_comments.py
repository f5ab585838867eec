"""Footnotes and comments of a Word document, moved next to the text they belong to."""

import re
from collections.abc import Iterator

from docling_core.types.doc import (  # type: ignore[attr-defined] # exported, though not in __all__
    ContentLayer,
    DocItem,
    DocItemLabel,
    DoclingDocument,
    GroupItem,
    GroupLabel,
    NodeItem,
    RefItem,
    SectionHeaderItem,
    TableItem,
    TextItem,
    TitleItem,
)

from sourcebook.parsing.text.remarks import remark_sentence

_HEADINGS = (TitleItem, SectionHeaderItem)
_REFERENCE = re.compile(r"\[\^(\d+)\]")
_NOTE = re.compile(r"\[\^(\d+)\]: ")
_COMMENT = re.compile(
    r"\[(?:author: (?P<author>.*?)(?: \([^()]*\))?)?(?:, )?(?:time: (?P<day>\d{4}-\d\d-\d\d)\S*)?\](?:: |$)"
)


def place_remarks(document: DoclingDocument) -> None:
    """Move each note and comment behind the paragraph, list or table that refers to it; others stay at the end."""
    places: dict[str, NodeItem] = {}
    behind: dict[str, list[NodeItem]] = {}
    for item, remarks in list(_remarks_by_item(document)):
        place = _outermost(document, item)
        places[place.self_ref] = place
        behind.setdefault(place.self_ref, []).extend(remarks)
    moved = {remark.self_ref for remarks in behind.values() for remark in remarks}
    parents = (remark.parent for remarks in behind.values() for remark in remarks)
    for holder in (document.body, *(parent.resolve(document) for parent in parents if parent is not None)):
        holder.children = [child for child in holder.children if child.cref not in moved]
    headings = [place for place in places.values() if isinstance(place, _HEADINGS)]
    for heading in headings:
        heading.children = [*_placed(behind.pop(heading.self_ref), heading), *heading.children]
    held_by = (places[reference].parent for reference in behind)
    for parent in {holder.cref: holder.resolve(document) for holder in held_by if holder is not None}.values():
        parent.children = [
            one for child in parent.children for one in (child, *_placed(behind.get(child.cref, []), parent))
        ]


def comment_sentence(text: str) -> str:
    """Return docling's `[author: A (I), time: T]: text` as `Comment by A, 2024-05-06: text`."""
    head = _COMMENT.match(text)
    if head is None:
        return remark_sentence(text, author="", day="")
    return remark_sentence(text[head.end() :], author=head["author"] or "", day=head["day"] or "")


def _remarks_by_item(document: DoclingDocument) -> Iterator[tuple[DocItem, list[NodeItem]]]:
    """Yield the items with notes and comments, each with those in their order."""
    comments = {
        group.self_ref: group
        for group in document.groups
        if group.label == GroupLabel.COMMENT_SECTION and group.content_layer == ContentLayer.NOTES
    }
    for text in document.texts:
        if text.content_layer == ContentLayer.NOTES:
            text.text = comment_sentence(text.text)
    notes = {
        found[1]: text
        for text in document.texts
        if text.label == DocItemLabel.FOOTNOTE and (found := _NOTE.match(text.text))
    }
    for item, _ in document.iterate_items(traverse_pictures=True):
        if not isinstance(item, DocItem) or item.label == DocItemLabel.FOOTNOTE:
            continue
        marks = (mark for text in _texts(item) for mark in _REFERENCE.findall(text))
        remarks: list[NodeItem] = [notes.pop(mark) for mark in dict.fromkeys(marks) if mark in notes]
        remarks += [comments.pop(comment.cref) for comment in item.comments if comment.cref in comments]
        if remarks:
            yield item, remarks


def _texts(item: DocItem) -> list[str]:
    match item:
        case TextItem():
            return [item.text]
        case TableItem():
            return [cell.text for cell in item.data.table_cells]
        case _:
            return []


def _placed(remarks: list[NodeItem], parent: NodeItem) -> list[RefItem]:
    for remark in remarks:
        remark.parent = parent.get_ref()
    return [remark.get_ref() for remark in remarks]


def _outermost(document: DoclingDocument, item: NodeItem) -> NodeItem:
    """Return the list, table or paragraph with an item in it that is a child of the body or of a heading."""
    while item.parent is not None:
        parent = item.parent.resolve(document)
        if parent is document.body or isinstance(parent, _HEADINGS):
            return item
        if isinstance(parent, GroupItem) and parent.label in {GroupLabel.SECTION, GroupLabel.UNSPECIFIED}:
            return item
        item = parent
    return item
