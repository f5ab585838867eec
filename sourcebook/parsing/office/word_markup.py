"""Markup of Word documents that docling does not read, rewritten in markup that it reads.

What Word may wrap around words, rows and cells is unwrapped first, so that every place has one reader of a paragraph.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from docx.document import Document
from docx.opc.part import XmlPart
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from sourcebook.parsing.office.rich_text import SYMBOLS
from sourcebook.parsing.office.word_controls import CHECKBOX, Controls, run_of
from sourcebook.parsing.office.word_fields import number_of, read_fields, remove, write_form_fields
from sourcebook.parsing.text.descriptions import is_decorative, picture_words
from sourcebook.parsing.text.raised_text import lowered, raised

_COMPATIBILITY: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_CONTROL, _ALTERNATIVES = qn("w:sdt"), f"{_COMPATIBILITY}AlternateContent"
_WRAPPERS: Final = tuple(
    qn(f"w:{name}") for name in ("ins", "moveTo", "customXml", "smartTag", "fldSimple", "bdo", "dir")
)
"""Elements around words, paragraphs, rows or cells that are text like any other."""
_UNDERSTOOD: Final = ("http://schemas.microsoft.com/office/", "http://schemas.openxmlformats.org/")
_TABLE, _ROW, _CELL, _GRID = qn("w:tbl"), qn("w:tr"), qn("w:tc"), qn("w:tblGrid")
_PARAGRAPH, _RUN, _RUBY, _TEXT = qn("w:p"), qn("w:r"), qn("w:ruby"), qn("w:t")
_BREAK, _BREAK_TYPE = qn("w:br"), qn("w:type")
_WORDS: Final = (_TEXT, qn("m:t"), qn("a:t"))
_STORIES: Final = frozenset(qn(f"w:{name}") for name in ("document", "hdr", "ftr", "comments"))
_DRAWN: Final = (
    qn("wp:docPr"),
    *(f"{{urn:schemas-microsoft-com:vml}}{name}" for name in ("textpath", "shape", "rect")),
)
_SAID: Final = ("descr", "string", "alt")
"""Attributes with the description of a picture, and the words of drawn letters (WordArt)."""
_REACH: Final = 200
"""Characters before raised text that say what it is."""
_DINGBATS: Final = {0xA8: "☐", 0x6F: "☐", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑", 0xE0: "→", 0xDF: "←"}
"""Signs of Wingdings that stand for words."""
_HEXADECIMAL: Final = re.compile(r"[0-9A-Fa-f]{1,5}")
_OF_SYMBOL_FONT: Final = re.compile("[\uf020-\uf0ff]")
_MOST_COLUMNS: Final = 256
"""Columns that a table gets at the most: Word allows 63."""


class PlainMarkup:
    """The parts of a document, changed so that docling finds all that Word shows, and nothing that was deleted."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._controls = Controls(document)
        styles = document.styles.element.iterfind(f"{qn('w:style')}/{qn('w:rPr')}/{qn('w:vertAlign')}")
        self._scripts = {style.getparent().getparent().get(qn("w:styleId")): style.get(qn("w:val")) for style in styles}

    def write_document(self) -> int:
        """Rewrite all parts but the notes, which python-docx does not parse; return the number of empty fields."""
        parts = (part for part in self._document.part.package.iter_parts() if isinstance(part, XmlPart))
        return sum(self.write(part.element) for part in parts if part.element.tag in _STORIES)

    def write(self, root: Any) -> int:
        """Rewrite a part from its outermost element; return the number of empty fields in it."""
        remove(list(_deleted(root)))
        empty = 0
        for choice in reversed(list(root.iter(_ALTERNATIVES))):
            _unwrap(choice, _branch(choice))
        for control in reversed(list(root.iter(_CONTROL))):
            empty += self._controls.write_value(control)
            for box in control.iterfind(f"{qn('w:sdtPr')}/{CHECKBOX}"):
                control.addprevious(box)
            _unwrap(control, control.find(qn("w:sdtContent")))
        for wrapper in reversed(list(root.iter(*_WRAPPERS))):
            _unwrap(wrapper, wrapper)
        _choose_tasks(root)
        remove([table for table in root.iter(_TABLE) if next(table.iter(_ROW), None) is None])
        for table in root.iter(_TABLE):
            _complete_grid(table)
        _join_paragraphs(root)
        read_fields(root, self._document)
        _write_readings(root)
        write_form_fields(root)
        _write_symbols(root)
        _part_words(root)
        self._write_scripts(root)
        _write_drawn(root)
        return empty

    def _write_scripts(self, root: Any) -> None:
        """Write raised and lowered text as plain text says it."""
        parts: list[tuple[Any, str | None, list[Any]]] = []
        for run in root.iter(_RUN):
            texts = [text for text in run.iterchildren(_TEXT) if text.text]
            script = self._script(run)
            if not texts:
                continue
            if parts and parts[-1][:2] == (_paragraph(run), script):
                parts[-1][2].extend(texts)
            else:
                parts.append((_paragraph(run), script, texts))
        line, before = "", None
        for number, (paragraph, script, texts) in enumerate(parts):
            line = line if paragraph is before else ""
            text = "".join(each.text for each in texts)
            if script in {"superscript", "subscript"}:
                following = parts[number + 1] if number + 1 < len(parts) else (None, None, [])
                after = "".join(each.text for each in following[2]) if following[0] is paragraph else ""
                shown = (
                    raised(text, before=line, after=after) if script == "superscript" else lowered(text, before=line)
                )
                end = text[len(text.rstrip()) :] if shown.strip() else ""
                text = shown + end
                texts[0].text = text
                for each in texts[1:]:
                    each.text = ""
            line, before = (line + text)[-_REACH:], paragraph

    def _script(self, run: Any) -> str | None:
        """Return `superscript` or `subscript`, and take the format away: it parts words in docling's text."""
        properties = run.find(qn("w:rPr"))
        own = style = None
        if properties is not None:
            own, style = properties.find(qn("w:vertAlign")), properties.find(qn("w:rStyle"))
        script = None if style is None else self._scripts.get(style.get(qn("w:val")))
        if own is not None:
            script = own.get(qn("w:val"))
            properties.remove(own)
        return script


def _paragraph(run: Any) -> Any:
    return None if run is None else next(run.iterancestors(_PARAGRAPH), None)


def _deleted(root: Any) -> Iterator[Any]:
    """Yield what was deleted, or moved to another place, while changes were tracked."""
    yield from root.iter(qn("w:moveFrom"))
    for mark in root.iter(qn("w:del"), qn("w:cellDel")):
        above = mark.getparent()
        if above.tag in {qn("w:trPr"), qn("w:tcPr")}:
            yield above.getparent()
        elif above.tag != qn("w:rPr"):
            yield mark


def _branch(wrapper: Any) -> Any:
    """Return the first form of a content that is known and has words, else the first one; None where there is none."""
    choices = [each for each in wrapper.iterchildren(f"{_COMPATIBILITY}Choice") if _is_understood(each)]
    choices += wrapper.iterchildren(f"{_COMPATIBILITY}Fallback")
    return next((each for each in choices if next(each.iter(*_WORDS), None) is not None), next(iter(choices), None))


def _is_understood(choice: Any) -> bool:
    needed = (choice.nsmap.get(prefix) or "" for prefix in choice.get("Requires", "").split())
    return all(namespace.startswith(_UNDERSTOOD) for namespace in needed)


def _choose_tasks(root: Any) -> None:
    """Leave the sign of a check box where a paragraph begins with its only one: docling makes a task of it."""
    for box in list(root.iter(CHECKBOX)):
        paragraph = box.getparent()
        before = box.itersiblings(_RUN, preceding=True)
        alone = paragraph.tag == _PARAGRAPH and len(list(paragraph.iterchildren(CHECKBOX))) == 1
        if not alone or any(before) or next(paragraph.iterancestors(_CELL), None) is not None:
            paragraph.remove(box)


def _unwrap(wrapper: Any, content: Any) -> None:
    """Put the elements of the content in the wrapper's place."""
    for child in list(content) if content is not None else ():
        wrapper.addprevious(child)
    wrapper.getparent().remove(wrapper)


def _join_paragraphs(root: Any) -> None:
    """Move the words of a drop cap, and those before a deleted mark of a paragraph, to the paragraph behind."""
    for paragraph in list(root.iter(_PARAGRAPH)):
        properties = paragraph.find(qn("w:pPr"))
        following = paragraph.getnext()
        while following is not None and following.tag not in {_PARAGRAPH, _TABLE, qn("w:sectPr")}:
            following = following.getnext()
        if properties is None or following is None or following.tag != _PARAGRAPH or not _is_part(properties):
            continue
        own = following.find(qn("w:pPr"))
        for child in reversed([child for child in paragraph if child is not properties]):
            following.insert(0, child) if own is None else own.addnext(child)
        paragraph.getparent().remove(paragraph)


def _is_part(properties: Any) -> bool:
    frame, marks = properties.find(qn("w:framePr")), properties.find(qn("w:rPr"))
    if frame is not None and frame.get(qn("w:dropCap"), "none") != "none":
        return True
    deleted = marks is not None and any(marks.find(qn(f"w:{name}")) is not None for name in ("del", "moveFrom"))
    return deleted and properties.find(qn("w:sectPr")) is None


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
        number_of(properties.find(qn(f"w:{name}")) if properties is not None else None)
        for name in ("gridBefore", "gridAfter")
    )
    spans = (cell.find(f"{qn('w:tcPr')}/{qn('w:gridSpan')}") for cell in row.iterchildren(_CELL))
    return sum(free) + sum(max(number_of(span), 1) for span in spans)


def _write_readings(root: Any) -> None:
    """Write the readings over words (ruby) in brackets behind the words, as in web pages."""
    runs = [run for run in root.iter(_RUN) if run.find(_RUBY) is not None]
    readings: list[Any] = []
    for run in runs:
        following = run.getnext()
        for ruby in run.findall(_RUBY):
            for base in ruby.iterfind(f"{qn('w:rubyBase')}/{_RUN}"):
                run.addprevious(base)
            shown = "".join(text.text or "" for text in ruby.iterfind(f"{qn('w:rt')}//{qn('w:t')}"))
            readings += [run_of(f"({shown})")] if shown else []
            run.remove(ruby)
        if following is None or following.tag != _RUN or following.find(_RUBY) is None:
            for reading in reversed(readings):
                run.addnext(reading)
            readings = []


def _write_symbols(root: Any) -> None:
    """Write the characters of symbol fonts as letters and signs of other fonts."""
    for symbol in list(root.iter(qn("w:sym"))):
        code = symbol.get(qn("w:char"), "")
        number = int(code, 16) if _HEXADECIMAL.fullmatch(code) else 0
        sign = _sign(symbol.get(qn("w:font"), ""), number)
        symbol.getparent().replace(symbol, run_of(sign if sign.isprintable() else "")[0])
    for text in root.iter(_TEXT):
        if _OF_SYMBOL_FONT.search(text.text or ""):
            fonts = text.getparent().find(f"{qn('w:rPr')}/{qn('w:rFonts')}")
            font = "" if fonts is None else fonts.get(qn("w:ascii"), fonts.get(qn("w:hAnsi"), ""))
            letters = (_sign(font, ord(each)) if _OF_SYMBOL_FONT.match(each) else each for each in text.text)
            text.text = "".join(letters)


def _sign(font: str, number: int) -> str:
    name = font.casefold()
    if name == "symbol":
        return chr(number & 0xFF).translate(SYMBOLS)
    return _DINGBATS.get(number & 0xFF, "") if name.startswith("wingdings") else chr(number)


def _part_words(root: Any) -> None:
    """Make breaks of pages and columns between words breaks of lines, which keep the words apart."""
    marks = [mark for mark in root.iter(_BREAK) if mark.get(_BREAK_TYPE) in {"page", "column"}]
    for paragraph in {paragraph: None for mark in marks if (paragraph := _paragraph(mark)) is not None}:
        parts = list(paragraph.iter(_TEXT, _BREAK))
        texts = [place for place, part in enumerate(parts) if part.tag == _TEXT]
        for mark in parts[texts[0] : texts[-1]] if texts else ():
            if mark.get(_BREAK_TYPE) in {"page", "column"}:
                del mark.attrib[_BREAK_TYPE]


def _write_drawn(root: Any) -> None:
    """Write the descriptions of pictures, and the words of drawn letters, as paragraphs behind the one with them."""
    for drawn in reversed(list(root.iter(*_DRAWN))):
        words = (picture_words(drawn.get(name), name=drawn.get("name")) for name in _SAID)
        text = next((each for each in words if each), "")
        above = list(drawn.iterancestors(_PARAGRAPH))
        if text and above and not is_decorative(drawn):
            paragraph = OxmlElement("w:p")
            paragraph.append(run_of(text))
            above[-1].addnext(paragraph)
