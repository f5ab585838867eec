"""Fields of Word documents: the result that Word shows, and the state of fields of forms in the old style."""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from sourcebook.parsing.office.word_controls import is_checked, run_of

_TEXT, _RUN = qn("w:t"), qn("w:r")
_LINK: Final = re.compile(r"\s*HYPERLINK\s+\"([^\"]+)\"")


@dataclass
class _Field:
    """A field that is open: its instruction, the run that separates its result, and text that is no result."""

    instruction: str = ""
    separator: Any = None
    unshown: list[Any] = field(default_factory=list)


def read_fields(root: Any, document: Document) -> None:
    """Remove text within the instructions of fields, and make links of those that are one."""
    fields: list[_Field] = []
    for element in list(root.iter(qn("w:fldChar"), qn("w:instrText"), _TEXT)):
        kind = element.get(qn("w:fldCharType"))
        if kind == "begin":
            fields.append(_Field())
        elif not fields:
            continue
        elif kind == "separate":
            fields[-1].separator = element.getparent()
        elif kind == "end":
            ended = fields.pop()
            remove(ended.unshown)
            if link := _LINK.match(ended.instruction):
                _write_link(document, link[1], ended.separator, element.getparent())
        elif element.tag == _TEXT:
            outermost = next((each for each in fields if each.separator is None), None)
            if outermost is not None:
                outermost.unshown.append(element)
        else:
            fields[-1].instruction += element.text or ""


def _write_link(document: Document, address: str, separator: Any, end: Any) -> None:
    if separator is None or separator.getparent() is not end.getparent():
        return
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), document.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    for run in list(separator.itersiblings()):
        if run is end:
            break
        link.append(run)
    separator.addnext(link)


def write_form_fields(root: Any) -> None:
    """Write the state of check boxes, and the chosen entry of lists, of forms in the old style as text."""
    for data in root.iter(qn("w:ffData")):
        box, choices = data.find(qn("w:checkBox")), data.find(qn("w:ddList"))
        run = next(data.iterancestors(_RUN), None)
        if run is None:
            continue
        if box is not None:
            run.addnext(run_of("☒" if is_checked(_state(box)) else "☐"))
        elif choices is not None:
            entries = [entry.get(qn("w:val"), "") for entry in choices.iterfind(qn("w:listEntry"))]
            chosen = choices.find(qn("w:result"))
            number = number_of(chosen if chosen is not None else choices.find(qn("w:default")))
            if number < len(entries):
                run.addnext(run_of(entries[number]))


def _state(box: Any) -> Any:
    state = box.find(qn("w:checked"))
    return box.find(qn("w:default")) if state is None else state


def number_of(element: Any) -> int:
    """Return the number in an element's value; 0 where there is none."""
    value = "" if element is None else element.get(qn("w:val"), "")
    return int(value) if value.isascii() and value.isdecimal() else 0


def remove(elements: list[Any]) -> None:
    """Remove elements, each with all that is in it."""
    for element in elements:
        if (parent := element.getparent()) is not None:
            parent.remove(element)
