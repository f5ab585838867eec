"""Elements of DocBook renamed to those of HTML, in the tree itself."""

from collections.abc import Sequence
from typing import Any

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.parsing.markup.docbook.information import is_information
from sourcebook.parsing.markup.docbook.names import BLOCKS, CODE, HTML, LEFT_OUT, NOTES, SECTIONS
from sourcebook.parsing.markup.xml_tree import elements, first_of, local_name, words_of

_ID = "{http://www.w3.org/XML/1998/namespace}id"
_HREF = "{http://www.w3.org/1999/xlink}href"
_UNNAMED = {"refsynopsisdiv": "Synopsis", "glossary": "Glossary", "bibliography": "Bibliography"}
"""Titles that DocBook gives sections without one."""
_GROUP = "group"
"""Elements that are replaced by what they hold."""
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LISTS = frozenset({"itemizedlist", "orderedlist", "simplelist", "substeps", "procedure"})
_WIDEST = 500
"""Columns or rows that a cell may span."""
_BETWEEN = {"menuchoice": " > ", "keycombo": "+"}


class Renaming:
    """Turns a tree of DocBook into one of HTML, from the root down, without recursion."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._titles: dict[str, str] = {}

    def run(self) -> None:
        """Rename every element, and give each section with a title a heading with its id."""
        for element in self._root.iter(etree.Element):
            if identifier := _id(element):
                self._titles.setdefault(identifier, words_of(first_of(element, "title")))
        waiting: list[tuple[Any, int, list[str]]] = [(self._root, 1, [])]
        while waiting:
            element, level, columns = waiting.pop()
            name = local_name(element)
            if name in LEFT_OUT:
                _remove(element)
                continue
            if is_information(name):
                _reduce_to_abstract(element)
            if name in SECTIONS:
                self._give_heading(element, name, level)
                level += 1
            children = elements(element)
            columns = _column_names(children) or columns
            self._rename(element, name, columns)
            waiting += [(child, level, columns) for child in reversed(children)]
        etree.strip_tags(self._root, _GROUP)

    def _give_heading(self, element: Any, name: str, level: int) -> None:
        title = first_of(element, "title", "refmeta")
        part = next((child for child in elements(element) if is_information(local_name(child))), None)
        if title is None and part is not None:
            title = first_of(part, "title")
        heading = etree.Element(f"h{min(level, 6)}")
        words = words_of(title)
        if title is not None and local_name(title) == "refmeta":
            words = words_of(first_of(title, "refentrytitle"))
        heading.text = words or _UNNAMED.get(name, "")
        if identifier := _id(element):
            heading.set("id", identifier)
        if title is not None:
            _remove(title)
        if heading.text:
            heading.tail, element.text = element.text, None
            element.insert(0, heading)

    def _rename(self, element: Any, name: str, columns: list[str]) -> None:
        if name in _HEADINGS and element.tag == name:
            return
        identifier, attributes = _id(element), dict(element.attrib)
        element.attrib.clear()
        parent = element.getparent()
        above = "" if parent is None else str(parent.tag)
        match name:
            case "title":
                element.tag = "p"
                _embolden(element)
                if above == "table":
                    element.tail = None
                    parent.addprevious(element)
            case "caption" if above == "table":
                element.tag = "caption"
            case "refnamediv":
                element.tag = "p"
                for child in elements(element)[:-1]:
                    child.tail = " — " if local_name(child.getnext()) == "refpurpose" else ", "
            case "emphasis":
                element.tag = "strong" if attributes.get("role") in {"bold", "strong"} else "em"
            case "orderedlist":
                element.tag = "ol"
                element.set("class", attributes.get("numeration", ""))
                element.set("start", attributes.get("startingnumber", "1"))
            case "ulink" | "link" | "uri":
                self._link(element, attributes)
            case "xref":
                element.tag = "span"
                element.text = self._titles.get(attributes.get("linkend", ""), "") or attributes.get("linkend", "")
            case "anchor":
                element.tag = "a"
                element.set("id", identifier)
            case "include":
                element.tag = "code"
                element.text = f"include {attributes.get('href', '')}"
            case "footnote":
                element.tag = "span"
                _strip(element)
                _enclose(element, " (", ")")
            case "quote":
                element.tag = "span"
                _enclose(element, "“", "”")
            case "entry":
                head = next(element.iterancestors("thead", "tbody", "table"), None)
                element.tag = "th" if head is not None and head.tag == "thead" else "td"
                _give_spans(element, attributes, columns)
            case "varlistentry" | "glossentry" | "tgroup":
                element.tag = _GROUP
            case "listitem" if above == _GROUP:
                element.tag = "dd"
            case _ if name in _BETWEEN:
                element.tag = "span"
                for child in elements(element)[:-1]:
                    child.tail = _BETWEEN[name]
            case _ if name in NOTES:
                element.tag = "div"
                self._label(element, NOTES[name])
            case _ if name in CODE:
                self._code(element, attributes)
            case _ if name in SECTIONS:
                element.tag = "div"
            case "para" | "simpara":
                element.tag = _paragraph(element, parent, above)
            case _:
                has_blocks = any(local_name(child) in BLOCKS for child in elements(element))
                element.tag = HTML.get(name, "div" if has_blocks else "span")

    def _link(self, element: Any, attributes: dict[str, str]) -> None:
        target = attributes.get("url") or attributes.get(_HREF) or ""
        element.tag = "a" if target else "span"
        if target:
            element.set("href", target)
        if not words_of(element):
            element.text = target or self._titles.get(attributes.get("linkend", ""), "")

    def _label(self, element: Any, kind: str) -> None:
        title = first_of(element, "title")
        label = etree.Element("p")
        strong = etree.SubElement(label, "strong")
        strong.text = f"{kind}: {words_of(title)}" if title is not None else f"{kind}:"
        if title is not None:
            _remove(title)
        element.insert(0, label)

    def _code(self, element: Any, attributes: dict[str, str]) -> None:
        text = "".join(element.itertext())
        tail = element.tail
        for child in list(element):
            element.remove(child)
        element.tag, element.tail, element.text = "pre", tail, None
        code = etree.SubElement(element, "code")
        code.text = text.strip("\n")
        if language := attributes.get("language"):
            code.set("class", f"language-{language}")


def _paragraph(element: Any, parent: Any, above: str) -> str:
    """Return the HTML element of a paragraph: one with blocks is a group, the first of an item its text."""
    if any(local_name(child) in BLOCKS for child in elements(element)):
        return "div"
    if above in {"li", "td", "th", "dd"} and element.getprevious() is None:
        return "span" if all(local_name(child) in _LISTS for child in elements(parent)[1:]) else "p"
    return "span" if above == "span" else "p"


def _id(element: Any) -> str:
    return element.get(_ID) or element.get("id") or ""


def _embolden(element: Any) -> None:
    strong = etree.Element("strong")
    strong.text, element.text = element.text, None
    strong.extend(list(element))
    element.append(strong)


def _enclose(element: Any, before: str, after: str) -> None:
    children = list(element)
    if children:
        element.text = f"{before}{(element.text or '').lstrip()}"
        children[-1].tail = f"{(children[-1].tail or '').rstrip()}{after}"
    else:
        element.text = f"{before}{(element.text or '').strip()}{after}"


def _strip(element: Any) -> None:
    """Remove the white space at the beginning and the end of an element's text."""
    first = last = element
    while len(first) and not (first.text or "").strip():
        first.text, first = None, first[0]
    first.text = (first.text or "").lstrip()
    while len(last):
        last = last[-1]
        if (last.tail or "").strip():
            last.tail = last.tail.rstrip()
            return
        last.tail = None
    last.text = (last.text or "").rstrip()


def _reduce_to_abstract(element: Any) -> None:
    """Keep only the abstract of the information about a part, and move the title of a part that is no section."""
    parent = element.getparent()
    if parent is not None and element.getprevious() is None and first_of(parent, "title") is None:
        title = first_of(element, "title")
        if title is not None:
            element.addprevious(title)
    for child in elements(element):
        if local_name(child) not in {"abstract", "legalnotice"}:
            _remove(child)


def _remove(element: Any) -> None:
    """Remove an element, and keep the text behind it."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail and element.tail.strip():
        element.addprevious(kept := etree.Element("span"))
        kept.text = element.tail
        element.tail = None
    parent.remove(element)


def _column_names(children: Sequence[Any]) -> list[str]:
    """Return the names of the columns that elements declare; "" for a column without one."""
    return [child.get("colname", "") for child in children if local_name(child) == "colspec"][:_WIDEST]


def _give_spans(cell: Any, attributes: dict[str, str], columns: Sequence[str]) -> None:
    """Set the spans of HTML on a cell from its DocBook attributes and the names of the table's columns."""
    rows = attributes.get("morerows", "")
    if rows.isascii() and rows.isdigit() and 0 < len(rows) < 4:
        cell.set("rowspan", str(min(int(rows) + 1, _WIDEST)))
    first, last = attributes.get("namest", ""), attributes.get("nameend", "")
    if first and first in columns and last in columns:
        width = columns.index(last) - columns.index(first) + 1
        if width > 1:
            cell.set("colspan", str(width))
