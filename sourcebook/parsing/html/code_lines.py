"""Code that a page writes without `<pre>`: a table row, a `<div>` or a `<br>` a line."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from sourcebook.parsing.html.tree import CODE_NEWLINE, Element, all_text, drop, found, subelement

if TYPE_CHECKING:
    from collections.abc import Iterable

LINE_NUMBER: Final = re.compile(
    r"\b(?:line-?nos?|line-?numbers?(?!-?mode)|line-count|gutter|ln-n(?:umbers)?|(?:blob|lines|crayon)-nums?|source-line-no)\b"
    r"|(?<!\S)lnt?(?!\S)",
    re.IGNORECASE,
)
_LINE: Final = re.compile(
    r"\b(?:cm|codemirror|code|crayon|ec|file|prism|source|token|view)-?line\b"
    r"|(?<!\S)line (?:number\d+ index\d+ )?alt[12]\b",
    re.IGNORECASE,
)
_KEEPS_SPACES: Final = re.compile(r"white-space\s*:\s*pre(?![\w-])", re.IGNORECASE)
_KEEPS_LINES: Final = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)", re.IGNORECASE)
_OF_TEXT: Final = ("blockquote", "dd", "div", "li", "p", "span", "td")
_CODE: Final = ("code", "samp", "tt")
_BLOCKS: Final = frozenset({"blockquote", "div", "dl", "li", "ol", "p", "pre", "section", "table", "ul"})
_PAGE: Final = frozenset({"article", "body", "main", "section"})
_HIGHEST: Final = 3
"""Elements around a line among which the one with all lines is."""
_LABEL: Final = 20
"""Characters beside lines of code, such as those of a button."""


def gather_code_lines(root: Element) -> None:
    """Turn code whose lines are elements of their own into `<pre>`, without the numbers of its lines."""
    looked_at: set[Element] = set()
    for element in found(root, ".//@class[contains(., 'line')]/.."):
        is_cell = element.tag == "td" and is_line_number(element)
        if not is_cell and not _LINE.search(element.get("class") or ""):
            continue
        if next((each for each in element.iterancestors() if each is root or each.tag == "pre"), None) is not root:
            continue  # gone with the lines before it, or in code that says so
        if is_cell:
            _gather_rows(element, looked_at)
        else:
            _gather_lines(element, looked_at)
    for element in found(root, ".//ol/@class[contains(., 'linenums')]/.."):
        if element.getparent() is not None and next(element.iterancestors("pre"), None) is None:
            _become_pre(element, list(map(all_text, element.iter("li"))))
    for element in found(root, ".//@style[contains(., 'white-space')]/.."):
        if element.tag in _OF_TEXT and _KEEPS_LINES.search(element.get("style") or ""):
            _keep_lines(element)
    for element in list(root.iter("br", *_CODE)):
        code = element.getparent() if element.tag == "br" else element
        if code is not None and code.tag in _CODE and next(code.iterancestors("pre"), None) is None:
            if element.tag == "br":
                _gather_breaks(code)
            elif _KEEPS_SPACES.search(code.get("style") or "") and "\n" in all_text(code).strip():
                code.tag = "pre"


def is_line_number(element: Element) -> bool:
    """Tell whether an element holds numbers of lines by its name."""
    return element.get("data-line-number") is not None or LINE_NUMBER.search(element.get("class") or "") is not None


def drop_numbers_beside(pre: Element, lines: int) -> None:
    """Remove the cell before code in a table that holds the numbers of its lines."""
    cell = next(pre.iterancestors("td"), None)
    beside = None if cell is None else cell.getprevious()
    if beside is None or beside.tag not in {"td", "th"}:
        return
    words = all_text(beside).replace(CODE_NEWLINE, " ").split()
    if all(map(str.isdecimal, words)) and (len(words) == lines > 1 or any(map(is_line_number, beside.iter()))):
        drop(beside)


def _gather_rows(cell: Element, looked_at: set[Element]) -> None:
    """Gather a table each of whose rows has the number of a line and its code, as programs for repositories show it."""
    table = next(cell.iterancestors("table"), None)
    if table is None or table in looked_at:
        return
    looked_at.add(table)
    rows = [[each for each in row if each.tag == "td"] for row in table.iter("tr")]
    if len(rows) > 1 and all(len(row) > 1 and is_line_number(row[0]) for row in rows):
        _become_pre(table, [all_text(row[-1]) for row in rows])


def _gather_breaks(code: Element) -> None:
    """Gather code with `<br>` that is alone in its paragraph."""
    parent = code.getparent()
    if parent is None or len(parent) > 1 or (parent.text or "").strip() or (code.tail or "").strip():
        return
    for line_end in list(code.iter("br")):
        line_end.tail = f"\n{line_end.tail or ''}"
    _become_pre(parent if parent.tag == "p" else code, all_text(code).split("\n"))


def _gather_lines(first: Element, looked_at: set[Element]) -> None:
    """Gather elements that are a line each, below the nearest element that holds more than one of them."""
    for around in islice(first.iterancestors(), _HIGHEST):
        if around.tag in _PAGE or around in looked_at:
            return
        looked_at.add(around)
        found = {each for each in around.iter() if _LINE.search(each.get("class") or "")}
        lines = [each for each in around.iter() if each in found and found.isdisjoint(each.iterancestors())]
        if len(lines) > 1:
            break
    else:
        return
    beside = len("".join(all_text(around).split())) - sum(len("".join(all_text(line).split())) for line in lines)
    if beside <= _LABEL:
        for part in [each for line in lines for each in line.iter() if each is not line]:
            if is_line_number(part) or part.get("class") == "number":
                drop(part)
        _become_pre(around, list(map(all_text, lines)))


def _become_pre(element: Element, lines: Iterable[str]) -> None:
    names = [(name, value) for name in ("class", "data-lang", "data-language") if (value := element.get(name))]
    element.clear(keep_tail=True)
    pre = subelement(element, "pre") if element.tag in {"li", "td"} else element
    pre.tag, pre.text = "pre", "\n".join(line.strip("\r\n") for line in lines)
    for name, value in names:
        element.set(name, value)


def _keep_lines(element: Element) -> None:
    """Write the lines of a text that its style shows as they are: as code where spaces count, else with line ends."""
    if any(each.tag in _BLOCKS for each in islice(element.iter(), 1, None)) or "\n" not in all_text(element).strip():
        return
    if next(element.iterancestors("pre"), None) is not None:
        return
    if _KEEPS_SPACES.search(element.get("style") or ""):
        for line_end in list(element.iter("br")):
            line_end.tail = f"\n{line_end.tail or ''}"
        _become_pre(element, all_text(element).strip("\n").split("\n"))
        return
    if element.text:
        element.text = element.text.lstrip("\n")
    if len(element) and element[-1].tail:
        element[-1].tail = element[-1].tail.rstrip()
    elif element.text and not len(element):
        element.text = element.text.rstrip()
    for each in list(element.iter()):
        if each is not element:
            _break_lines(each, (each.tail or "").split("\n"), is_tail=True)
        _break_lines(each, (each.text or "").split("\n"), is_tail=False)


def _break_lines(element: Element, lines: list[str], *, is_tail: bool) -> None:
    """Put a `<br>` between the lines of an element's text, or of the text behind it."""
    around = element.getparent() if is_tail else element
    if len(lines) < 2 or around is None:
        return
    if is_tail:
        element.tail = lines[0]
    else:
        element.text = lines[0]
    first = list(around).index(element) + 1 if is_tail else 0
    for number, line in enumerate(lines[1:]):
        line_end = subelement(around, "br")
        line_end.tail = line
        around.insert(first + number, line_end)
