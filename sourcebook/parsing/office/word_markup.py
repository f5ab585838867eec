"""Markup of Word documents that docling does not read, rewritten in markup that it reads."""

from collections.abc import Iterator
from typing import Any, Final

from docx.document import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

_WRAPPERS: Final = tuple(qn(f"w:{name}") for name in ("moveTo", "ins", "customXml", "bdo", "dir"))
"""Elements whose content is text like any other: moved and inserted text, markup of other programs, directions."""
_CONTROL, _CONTENT = qn("w:sdt"), qn("w:sdtContent")
_TABLE, _ROW, _CELL, _GRID = qn("w:tbl"), qn("w:tr"), qn("w:tc"), qn("w:tblGrid")
_PARAGRAPH, _RUN, _RUBY = qn("w:p"), qn("w:r"), qn("w:ruby")
_TEXT_PATH: Final = "{urn:schemas-microsoft-com:vml}textpath"
_FALLBACK: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_MOST_COLUMNS: Final = 256
"""Columns that a table gets at the most: Word allows 63."""


def write_plain_markup(document: Document) -> None:
    """Change the body of a document so that docling finds all that Word shows, and nothing that was deleted."""
    body = document.element.body
    _remove(list(body.iter(qn("w:moveFrom"))))
    _remove([row for row in body.iter(_ROW) if row.find(f"{qn('w:trPr')}/{qn('w:del')}") is not None])
    _remove([table for table in body.iter(_TABLE) if next(table.iter(_ROW), None) is None])
    for wrapper in reversed(list(body.iter(*_WRAPPERS))):
        _unwrap(wrapper, wrapper)
    for control in reversed(list(body.iter(_CONTROL))):
        if control.getparent().tag in {_TABLE, _ROW} and (content := control.find(_CONTENT)) is not None:
            _unwrap(control, content)
    for table in body.iter(_TABLE):
        _complete_grid(table)
    _write_readings(body)
    _write_form_fields(body)
    _write_text_paths(body)


def _remove(elements: list[Any]) -> None:
    for element in elements:
        element.getparent().remove(element)


def _unwrap(wrapper: Any, content: Any) -> None:
    """Put the elements of the content in the wrapper's place."""
    for child in content:
        wrapper.addprevious(child)
    wrapper.getparent().remove(wrapper)


def _complete_grid(table: Any) -> None:
    """Give a table as many columns as its widest row has: docling leaves out cells beyond them."""
    widest = min(max((_width(row) for row in table.iterchildren(_ROW)), default=0), _MOST_COLUMNS)
    grid = table.find(_GRID)
    if grid is None:
        grid = OxmlElement("w:tblGrid")
        properties = table.find(qn("w:tblPr"))
        if properties is None:
            properties = OxmlElement("w:tblPr")
            table.insert(0, properties)
        properties.addnext(grid)
    for _ in range(widest - len(grid.findall(qn("w:gridCol")))):
        grid.append(OxmlElement("w:gridCol"))


def _width(row: Any) -> int:
    """Return the number of columns of a row, with those that it leaves free at its ends."""
    properties = row.find(qn("w:trPr"))
    free = (
        _number(properties.find(qn(f"w:{name}")) if properties is not None else None)
        for name in ("gridBefore", "gridAfter")
    )
    spans = (cell.find(f"{qn('w:tcPr')}/{qn('w:gridSpan')}") for cell in row.iterchildren(_CELL))
    return sum(free) + sum(max(_number(span), 1) for span in spans)


def _number(element: Any) -> int:
    value = "" if element is None else element.get(qn("w:val"), "")
    return int(value) if value.isascii() and value.isdecimal() else 0


def _write_readings(body: Any) -> None:
    """Write the readings over words (ruby) in brackets behind the words, as in web pages."""
    runs = [run for run in body.iter(_RUN) if run.find(_RUBY) is not None]
    readings: list[Any] = []
    for run in runs:
        following = run.getnext()
        for ruby in run.findall(_RUBY):
            for base in ruby.iterfind(f"{qn('w:rubyBase')}/{_RUN}"):
                run.addprevious(base)
            shown = "".join(text.text or "" for text in ruby.iterfind(f"{qn('w:rt')}//{qn('w:t')}"))
            readings += [_run_of(f"({shown})")] if shown else []
            run.remove(ruby)
        if following is None or following.tag != _RUN or following.find(_RUBY) is None:
            for reading in reversed(readings):
                run.addnext(reading)
            readings = []


def _write_form_fields(body: Any) -> None:
    """Write the state of check boxes, and the chosen entry of lists, of forms in the old style as text."""
    for data in body.iter(qn("w:ffData")):
        box, choices = data.find(qn("w:checkBox")), data.find(qn("w:ddList"))
        run = next(data.iterancestors(_RUN), None)
        if run is None:
            continue
        if box is not None:
            run.addnext(_run_of("☒" if _is_checked(box) else "☐"))
        elif choices is not None:
            entries = [entry.get(qn("w:val"), "") for entry in choices.iterfind(qn("w:listEntry"))]
            chosen = choices.find(qn("w:result"))
            number = _number(chosen if chosen is not None else choices.find(qn("w:default")))
            if number < len(entries):
                run.addnext(_run_of(entries[number]))


def _is_checked(box: Any) -> bool:
    state = box.find(qn("w:checked"))
    state = box.find(qn("w:default")) if state is None else state
    return state is not None and state.get(qn("w:val"), "1") not in {"0", "false", "off"}


def _write_text_paths(body: Any) -> None:
    """Write the words of drawn letters (WordArt) as a paragraph behind the one that shows them."""
    for place, text in reversed(list(_text_paths(body))):
        paragraph = OxmlElement("w:p")
        paragraph.append(_run_of(text))
        place.addnext(paragraph)


def _text_paths(body: Any) -> Iterator[tuple[Any, str]]:
    for path in body.iter(_TEXT_PATH):
        above = list(path.iterancestors(_PARAGRAPH, _FALLBACK))
        text = path.get("string", "").strip()
        if text and above and not any(each.tag == _FALLBACK for each in above):
            yield above[-1], text


def _run_of(text: str) -> Any:
    run = OxmlElement("w:r")
    words = OxmlElement("w:t")
    words.text = text
    run.append(words)
    return run
