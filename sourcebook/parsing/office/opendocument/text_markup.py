"""Markup of OpenDocument texts that docling does not read, rewritten in markup that it reads."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final
from zipfile import ZipFile

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.parsing.office.opendocument.opendocument_archive import (
    PARAGRAPHS,
    qualified,
    remove,
    shown_text,
)

_INDEXES: Final = tuple(
    qualified(f"text:{name}")
    for name in (
        "table-of-content",
        "illustration-index",
        "table-index",
        "object-index",
        "user-index",
        "alphabetical-index",
        "bibliography",
    )
)
_PARAGRAPH, _HEADING = PARAGRAPHS
_LIST, _ITEM, _TABLE = qualified("text:list"), qualified("text:list-item"), qualified("table:table")
_RUBY, _READING = qualified("text:ruby"), qualified("text:ruby-text")
_OBJECT, _FRAME, _SPAN = qualified("draw:object"), qualified("draw:frame"), qualified("text:span")
_HIDDEN_FIELD: Final = qualified("text:hidden-paragraph")
_STYLE_NAME, _PARENT = qualified("text:style-name"), qualified("style:parent-style-name")
_MATH: Final = "{http://www.w3.org/1998/Math/MathML}"
_REFERENCE: Final = "{http://www.w3.org/1999/xlink}href"
_LARGEST_FORMULA: Final = 1 << 20
"""Bytes of a formula's part."""


def write_plain_markup(root: Any) -> None:
    """Change a text so that docling finds its indexes, headings in lists, and every block of a list item."""
    for index in reversed(list(root.iter(*_INDEXES))):
        _unwrap(index, index.findall(qualified("text:index-body")))
    for title in reversed(list(root.iter(qualified("text:index-title")))):
        _unwrap(title, [title])
    for numbered in reversed(list(root.iter(qualified("text:numbered-paragraph")))):
        _unwrap(numbered, [numbered])
    for each in list(root.iter(_LIST)):
        if next(each.iterancestors(_ITEM), None) is None and _has_headings(each):
            for block in _flat_list(each):
                each.addprevious(block)
            remove(each)
    for item in reversed(list(root.iter(_ITEM))):
        _join_blocks(item)
    for link in root.iter(qualified("text:a")):
        if link.get(_REFERENCE, "").startswith("#"):  # a place in the document itself
            link.tag = _SPAN
            del link.attrib[_REFERENCE]
    _write_readings(root)


def remove_hidden(root: Any) -> list[str]:
    """Remove the paragraphs and words that are hidden by their style or a field, and return their texts."""
    styles = {style.get(qualified("style:name")): style for style in root.iter(qualified("style:style"))}
    hidden = {name for name in styles if _is_hidden(name, styles)}
    texts = []
    for element in list(root.iter(*PARAGRAPHS, _SPAN)):
        fields = element.iter(_HIDDEN_FIELD) if element.tag != _SPAN else ()
        by_field = any(field.get(qualified("text:is-hidden")) == "true" for field in fields)
        if (element.get(_STYLE_NAME) in hidden or by_field) and root in element.iterancestors():
            texts.append(shown_text(element))
            remove(element)
    return texts


def write_formulas(root: Any, archive: ZipFile) -> None:
    """Write formulas as the text that LibreOffice keeps of them, in their place."""
    for held in list(root.iter(_OBJECT)):
        math = held.find(f"{_MATH}math")
        part = f"{held.get(_REFERENCE, '').removeprefix('./').rstrip('/')}/content.xml"
        if math is None and part in archive.namelist() and archive.getinfo(part).file_size <= _LARGEST_FORMULA:
            math = _formula(archive.read(part))
        if math is None:
            continue
        words = math.find(f".//{_MATH}annotation")
        text = " ".join("".join(math.itertext() if words is None else words.itertext()).split())
        frame = held.getparent() if held.getparent().tag == _FRAME else held
        remove(frame, mark=f" {text} ")


def _formula(content: bytes) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError:
        return None
    return root if root.tag == f"{_MATH}math" else None


def _unwrap(wrapper: Any, contents: list[Any]) -> None:
    """Put the elements of the contents in the wrapper's place."""
    for content in contents:
        for child in list(content):
            child.tail = None
            wrapper.addprevious(child)
    remove(wrapper)


def _has_headings(held: Any) -> bool:
    return any(item.find(_HEADING) is not None for item in held.iter(_ITEM))


def _flat_list(held: Any) -> Iterator[Any]:
    """Yield the headings of a list, as older programs number them, and its other items in lists between them."""
    for item in held.iterchildren(_ITEM):
        others = None
        for child in list(item):
            if child.tag == _HEADING or (child.tag == _LIST and _has_headings(child)):
                others = None
                yield from [child] if child.tag == _HEADING else _flat_list(child)
                continue
            if others is None:
                own = etree.Element(_LIST, dict(held.attrib))
                others = etree.SubElement(own, _ITEM)
                yield own
            others.append(child)


def _join_blocks(item: Any) -> None:
    """Join the paragraphs of a list item as its lines, and move its tables behind the list: docling reads neither."""
    first, *more = item.findall(_PARAGRAPH) or [None]
    for paragraph in more:
        text = deepcopy(paragraph)
        text.tag, text.tail = _SPAN, None
        text.attrib.pop(_STYLE_NAME, None)
        if shown_text(paragraph).strip():
            if shown_text(first).strip():
                etree.SubElement(first, qualified("text:line-break"))
            first.append(text)
        remove(paragraph)
    outermost = [item, *item.iterancestors(_LIST)][-1]
    for table in reversed(item.findall(_TABLE)):
        table.tail = None
        outermost.addnext(table)


def _write_readings(root: Any) -> None:
    """Write the readings over words (ruby) in brackets behind the words, as in web pages."""
    waiting = ""
    for ruby in list(root.iter(_RUBY)):
        for reading in ruby.findall(_READING):
            waiting += f"({shown_text(reading)})" if shown_text(reading) else ""
            ruby.remove(reading)
        following = ruby.getnext()
        if ruby.tail or following is None or following.tag != _RUBY:
            ruby.tail, waiting = waiting + (ruby.tail or ""), ""


def _is_hidden(name: str | None, styles: dict[str | None, Any]) -> bool:
    """Tell whether a style hides its text, by itself or by the styles above it."""
    seen: set[str | None] = set()
    while name in styles and name not in seen:
        seen.add(name)
        for properties in styles[name].iterfind(qualified("style:text-properties")):
            if (display := properties.get(qualified("text:display"))) is not None:
                return bool(display == "none")
        name = styles[name].get(_PARENT)
    return False
