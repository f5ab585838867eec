"""Numbers of list items, clauses and headings of OpenDocument texts, which styles describe and programs compute."""

import re
from typing import Any, Final

from docling_core.types.doc import (  # type: ignore[attr-defined] # exported, though not in __all__
    DoclingDocument,
    ListItem,
    TableItem,
    TextItem,
)

from sourcebook.parsing.office.opendocument.opendocument_archive import PARAGRAPHS, qualified, repetitions
from sourcebook.parsing.text.list_numbers import list_number

_START, _END = "\ue020", "\ue021"
"""Marks around the number in the text of an item, from Unicode's private use area."""
_MARK: Final = re.compile(f"{_START}([^{_END}]*){_END}")
_PLACE: Final = re.compile(r"%(\d{1,2})%")
_LIST, _ITEM, _HEADER = qualified("text:list"), qualified("text:list-item"), qualified("text:list-header")
_NUMBERED, _OUTLINE = qualified("text:numbered-paragraph"), qualified("text:outline-style")
_PARAGRAPH, _HEADING = PARAGRAPHS
_NUMBER_LEVELS: Final = (qualified("text:list-level-style-number"), qualified("text:outline-level-style"))
_STYLE_NAME, _LEVEL, _START_VALUE = map(qualified, ("text:style-name", "text:level", "text:start-value"))
_FORMAT: Final = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}num-list-format"
_ID: Final = "{http://www.w3.org/XML/1998/namespace}id"

_Counters = dict[int, int]
"""Last number of each level of a list."""


def write_list_numbers(root: Any, styles: Any | None) -> None:
    """Write the number of each list item into its text between marks, and that of a heading as its beginning.

    Args:
        root: root of `content.xml`.
        styles: root of `styles.xml`, where the file has one.
    """
    _Numbers([each for each in (styles, root) if each is not None]).write(root)


def take_list_numbers(document: DoclingDocument) -> None:
    """Make the numbers in the texts of a document the marks of its list items; in tables they stay text."""
    for item in document.texts:
        if isinstance(item, ListItem):
            first: Any = item
            while not first.text and first.children:
                first = first.children[0].resolve(document)
                if not isinstance(first, TextItem) and not first.children:
                    break
            if isinstance(first, TextItem) and (mark := _MARK.match(first.text)):
                first.text = first.text[mark.end() :].lstrip()
                item.marker, item.enumerated = mark[1] or "-", bool(mark[1])
    for each in document.texts:
        each.text = _MARK.sub(_plain, each.text)
    for table in document.tables:
        if isinstance(table, TableItem):
            for cell in table.data.table_cells:
                cell.text = _MARK.sub(_plain, cell.text)


def _plain(mark: re.Match[str]) -> str:
    return f"{mark[1]} " if mark[1] else ""


class _Numbers:
    """Counters of the lists of a text."""

    def __init__(self, roots: list[Any]) -> None:
        self._levels: dict[tuple[str, int], Any] = {}
        self._of_paragraphs: dict[str, tuple[str | None, str | None]] = {}
        for root in roots:
            for style in root.iter(qualified("text:list-style"), _OUTLINE):
                name = "" if style.tag == _OUTLINE else style.get(qualified("style:name")) or ""
                for level in style:
                    self._levels[name, repetitions(level.get(_LEVEL))] = level
            for style in root.iter(qualified("style:style")):
                of_list, parent = (
                    style.get(qualified("style:list-style-name")),
                    style.get(qualified("style:parent-style-name")),
                )
                self._of_paragraphs[style.get(qualified("style:name")) or ""] = of_list, parent
        self._by_id: dict[str, _Counters] = {}
        self._last: dict[str, _Counters] = {}
        self._outline: _Counters = {}

    def write(self, root: Any) -> None:
        """Number the lists and headings below an element in their order."""
        for each in list(root.iter(_LIST, _HEADING, _NUMBERED)):
            if next(each.iterancestors(_LIST, _NUMBERED), None) is not None:
                continue
            if each.tag == _LIST:
                style = each.get(_STYLE_NAME) or self._style_of(next(each.iter(*PARAGRAPHS), None))
                self._number(each, style, 1, self._counters(each, style))
            elif each.tag == _NUMBERED:
                style = each.get(_STYLE_NAME) or self._style_of(next(each.iter(*PARAGRAPHS), None))
                counters = self._by_id.setdefault(each.get(qualified("text:list-id")) or style, {})
                self._step(each, style, repetitions(each.get(_LEVEL)), counters, is_item=False)
            elif each.get(qualified("text:is-list-header")) != "true" and self._style_of(each, otherwise=None) != "":
                self._step(
                    each, "", repetitions(each.get(qualified("text:outline-level"))), self._outline, is_item=False
                )

    def _counters(self, each: Any, style: str) -> _Counters:
        continued = each.get(qualified("text:continue-list"))
        if continued in self._by_id:
            counters = self._by_id[continued]
        elif each.get(qualified("text:continue-numbering")) == "true":
            counters = self._last.get(style, {})
        else:
            counters = {}
        self._by_id[each.get(_ID) or ""] = self._last[style] = counters
        return counters

    def _number(self, held: Any, style: str, level: int, counters: _Counters) -> None:
        for item in held.iterchildren(_ITEM, _HEADER):
            own = item.get(qualified("text:style-override")) or style
            first = next(item.iterchildren(*PARAGRAPHS, _LIST), None)
            if first is not None and first.tag != _LIST:
                if item.tag == _ITEM:
                    self._step(item, own, level, counters, is_item=first.tag == _PARAGRAPH)
                else:
                    _insert(first, f"{_START}{_END}")
            for nested in item.iterchildren(_LIST):
                self._number(nested, nested.get(_STYLE_NAME) or style, level + 1, counters)

    def _step(self, each: Any, style: str, level: int, counters: _Counters, *, is_item: bool) -> None:
        """Count an item, and write its number where its style has one."""
        stated = each.get(_START_VALUE)
        before = counters.get(level, self._first(style, level) - 1)
        counters[level] = int(stated) if stated and stated.isdecimal() else before + 1
        for deeper in [deeper for deeper in counters if deeper > level]:
            del counters[deeper]
        found = self._levels.get((style, level))
        if found is None:
            return
        label = self._label(found, style, level, counters) if found.tag in _NUMBER_LEVELS else ""
        paragraph = each if each.tag == _HEADING else next(each.iterchildren(*PARAGRAPHS), None)
        if paragraph is not None and (label or is_item):
            _insert(paragraph, f"{_START}{label}{_END}" if is_item else f"{label} ")

    def _first(self, style: str, level: int) -> int:
        found = self._levels.get((style, level))
        stated = None if found is None else found.get(_START_VALUE)
        return int(stated) if stated and stated.isdecimal() else 1

    def _label(self, found: Any, style: str, level: int, counters: _Counters) -> str:
        if (pattern := found.get(_FORMAT)) is not None:
            return _PLACE.sub(lambda place: self._shown(style, int(place[1]), counters), pattern).strip()
        shown = min(repetitions(found.get(qualified("text:display-levels"))), level)
        numbers = [self._shown(style, each, counters) for each in range(level - shown + 1, level + 1)]
        prefix, suffix = (found.get(qualified(f"style:num-{end}")) or "" for end in ("prefix", "suffix"))
        return f"{prefix}{'.'.join(filter(None, numbers))}{suffix}".strip() if numbers[-1] else ""

    def _shown(self, style: str, level: int, counters: _Counters) -> str:
        found = self._levels.get((style, level))
        kind = "" if found is None else (found.get(qualified("style:num-format")) or "").partition(",")[0]
        repeats = found is not None and found.get(qualified("style:num-letter-sync")) == "true"
        return list_number(counters.get(level, self._first(style, level)), kind, repeats=repeats)

    def _style_of(self, paragraph: Any | None, otherwise: str | None = "") -> Any:
        """Return the list style of a paragraph's style or of those above it."""
        name: str | None = None if paragraph is None else paragraph.get(_STYLE_NAME)
        seen: set[str] = set()
        while name and name in self._of_paragraphs and name not in seen:
            seen.add(name)
            of_list, name = self._of_paragraphs[name]
            if of_list is not None:
                return of_list
        return otherwise


def _insert(paragraph: Any, text: str) -> None:
    """Write a text before that of a paragraph, into the words that it begins with."""
    while not paragraph.text and len(paragraph) and paragraph[0].tag in {qualified("text:span"), qualified("text:a")}:
        paragraph = paragraph[0]
    paragraph.text = f"{text}{paragraph.text or ''}"
