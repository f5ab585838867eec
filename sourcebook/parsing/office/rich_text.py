"""The text of rich text (RTF 1.9.1) with marks for what it belongs to."""

import codecs
import re
from dataclasses import dataclass, replace
from typing import Final

from striprtf.striprtf import charset_map, destinations, specialchars

from sourcebook.parsing.text.raised_text import LEVEL, LOWERED, RAISED

HEADING, CELL, ROW, NOTE, NOTE_END, ROW_START, REMARK, ITEM, ITEM_END, DEPTH = (
    "\ue000", "\ue010", "\ue011", "\ue012", "\ue013", "\ue014", "\ue015", "\ue019", "\ue01a", "\ue030"
)  # fmt: skip
"""Marks, from Unicode's private use area: levels of headings are U+E000 to U+E008, those of lists U+E030 to U+E038."""
MARKS: Final = re.compile("[\ue000-\ue038]")

_TOKEN: Final = re.compile(r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)")
_FORMULA: Final = (
    "mmath moMath moMathPara mr mt macc mbar mborderBox mbox md mdeg mden me meqArr mf mfName mfunc mgroupChr mlim"
    " mlimLow mlimUpp mm mnary mnum mphant mrad msPre msSub msSubSup msSup msub msup"
)
_TRANSPARENT: Final = frozenset(f"rtf field fldrslt shp shpinst shpgrp do object result {_FORMULA}".split())
"""Groups whose text belongs to the text around them."""
_BOXES: Final = frozenset({"shptxt", "dptxbxtext"})
_HEADS: Final = frozenset(f"{place}{pages}" for place in ("header", "footer") for pages in ("", "l", "r", "f"))
_IN_LINE: Final = {"footnote": (NOTE, NOTE_END), "listtext": (ITEM, ITEM_END), "pntext": (ITEM, ITEM_END)}
"""Groups whose text stays in the line, each with the marks around it."""
_OWN: Final = _BOXES | _HEADS | {*_IN_LINE, "annotation", "atnauthor", "fonttbl", "stylesheet", "ud"}
_LISTS: Final = frozenset({"fonttbl", "stylesheet"})
_NO_TEXT: Final = (
    "upr shprslt nonesttables sp sn sv objdata objclass objname mmathPict fldinst datafield formfield atnid ftnsep"
    " ftnsepc ftncn aftnsep aftnsepc aftncn atrfstart atrfend atnref atndate atntime atnparent"
)
_SKIPPED: Final = frozenset(destinations).union(_NO_TEXT.split()) - _TRANSPARENT - _OWN
_PAGES: Final = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850", "ansi": "cp1252"}
_SHOWN: Final[dict[str, str]] = specialchars | {
    "cell": CELL,
    "row": ROW,
    "trowd": ROW_START,
    "nestcell": "\n",
    "\r": "\n",
    "-": "",  # a place where a word may be divided
}
_ENDS: Final = frozenset({"par", "sect", "page", "row", "\n", "\r"})
_HEADING_STYLE: Final = re.compile(rb"heading ([1-9])|title", re.IGNORECASE)
_RAISES: Final = {"super": RAISED, "up": RAISED, "sub": LOWERED, "dn": LOWERED, "nosupersub": ""}
_SYMBOL: Final = "symbol"
_BULLETS: Final = {"\uf0b7": "•", "\uf0a7": "▪"}
SYMBOLS: Final = str.maketrans(
    "abgdezhqiklmnxoprstufcywABGDEZHQIKLMNXOPRSTUFCYW£³´·¥¹»®¬Ö",
    "αβγδεζηθικλμνξοπρστυφχψωΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ≤≥×•∞≠≈→←√",
)
"""Characters that the font Symbol shows as Greek letters and as other signs."""


@dataclass(frozen=True, slots=True)
class RichText:
    """Text with marks, and the texts that are left out: headers, footers, hidden words."""

    text: str
    left_out: tuple[str, ...]


def read_rich_text(source: str, *, page: str = "cp1252") -> RichText:
    """Read rich text: deleted words are gone, boxes and remarks follow their paragraph.

    Args:
        source: the rich text, a character a byte, without binary data.
        page: encoding of text before the source names one.
    """
    return _Reader(_known(page, "cp1252")).read(source)


@dataclass(frozen=True, slots=True)
class _Group:
    """State of the text within braces."""

    sink: list[str] | None
    """Pieces of the text that the group belongs to; None where it is no text."""
    outside: list[str] | None = None
    """`sink` around the group that is no text."""
    kind: str = ""
    font: str = ""
    hidden: bool = False
    deleted: bool = False
    raised: str = ""
    """Mark before raised or lowered text."""
    signs: int = 1
    """Signs behind a Unicode character that stand for it in old programs."""


class _Reader:
    def __init__(self, page: str) -> None:
        self._page = page
        self._body: list[str] = []
        self._left_out: list[str] = []
        self._hidden: list[str] = []
        self._waiting: list[str] = []  # boxes and remarks, until the end of their paragraph or row
        self._fonts: dict[str, str] = {}
        self._default_font = self._font = ""
        self._symbols = ""  # number of the last font that says it holds symbols
        self._levels: dict[str, int] = {}  # of headings, by the number of their style
        self._based_on: dict[str, str] = {}
        self._style = "0"
        self._level: int | None = None
        self._in_row = False
        self._author = ""
        self._bytes = bytearray()
        self._bytes_of = _Group(None)

    def read(self, source: str) -> RichText:
        group, above = _Group(self._body), list[_Group]()
        signs, starred = 0, False
        for found in _TOKEN.finditer(source):
            word, number, code, sign, brace, text = found.groups()
            if brace == "{":
                above.append(group)
                group, signs = replace(group, kind=group.kind if group.kind in _LISTS else ""), 0
            elif brace:
                self._close(group)
                if len(above) <= 1:
                    break  # what follows the document is no part of it
                group, signs = above.pop(), 0
            elif word == "u" and number:
                self._add(group, _character(int(number)))
                signs = group.signs
            elif word:
                group = self._word(group, word, number, starred=starred)
            elif sign:
                self._add(group, _SHOWN.get(sign, ""), ends=sign in _ENDS)
            else:
                held = bytes((int(code, 16),)) if code else text.encode("latin-1", "replace")
                passed = min(signs, len(held))
                signs -= passed
                self._add_bytes(group, held[passed:])
            starred = sign == "*"
        for each in (group, *reversed(above)):  # of a file that is cut off
            self._close(each)
        self._add(_Group(self._body), "", ends=True)
        hidden = "".join(self._hidden).split("\n")
        return RichText(
            _whole("".join(self._body)), tuple(MARKS.sub(" ", _whole(text)) for text in (*self._left_out, *hidden))
        )

    def _word(self, group: _Group, word: str, number: str | None, *, starred: bool) -> _Group:
        """Return the state behind a control word."""
        if word in _SKIPPED or (starred and word not in _TRANSPARENT | _OWN):
            return replace(group, sink=None, outside=group.sink)
        if word in _OWN:
            return self._opened(group, word)
        match word:
            case "ansicpg" if number:
                self._page = _known(f"cp{number}", self._page)
            case "ansi" | "mac" | "pc" | "pca":
                self._page = _PAGES[word]
            case "deff":
                self._default_font = number or ""
                return replace(group, font=self._default_font)
            case "f":
                self._font = number or ""
                return replace(group, font=self._font)
            case "plain":
                return replace(group, hidden=False, deleted=False, raised="", font=self._default_font)
            case "super" | "sub" | "up" | "dn" | "nosupersub":
                return replace(group, raised="" if number == "0" else _RAISES[word])
            case "ilvl" if number and number.isdecimal() and len(number) == 1 and group.sink is self._body:
                self._add(group, chr(ord(DEPTH) + min(int(number), 8)))
            case "v":
                return replace(group, hidden=number != "0")
            case "deleted":
                return replace(group, deleted=number != "0")
            case "uc":
                return replace(group, signs=min(int(number or 1), 8))
            case _ if group.kind or group.sink is not self._body or not self._of_paragraph(word, number):
                self._of_table(group, word, number)
        if word in _SHOWN:
            self._add(group, _SHOWN[word], ends=word in _ENDS)
        return group

    def _opened(self, group: _Group, word: str) -> _Group:
        """Return the state at the beginning of a group with a text of its own."""
        if word == "ud":  # the Unicode form of a group whose other form is passed over
            return replace(group, sink=group.outside)
        if word in _LISTS:
            return replace(group, sink=None, kind=word)
        if group.sink is None or word not in _IN_LINE:
            return replace(group, sink=None if group.sink is None else [], kind=word, raised="")
        self._add(group, _IN_LINE[word][0])
        return replace(group, kind=word, raised="")

    def _close(self, group: _Group) -> None:
        """Bring the text of a group to its place."""
        if group.kind in _IN_LINE:
            self._add(replace(group, hidden=False), _IN_LINE[group.kind][1])
        elif group.kind in _OWN and group.sink is not None:
            self._flush()
            text = "".join(group.sink).strip("\n")
            if group.kind in _HEADS:
                self._left_out += text.split("\n")
            elif group.kind == "atnauthor":
                self._author = " ".join(text.split())
            elif group.kind == "annotation":
                by = f" by {self._author}" if self._author else ""
                self._waiting += [f"{REMARK}Comment{by}: {' '.join(text.split())}"] if text.strip() else []
                self._author = ""
            else:
                self._waiting.append(text)

    def _of_paragraph(self, word: str, number: str | None) -> bool:
        """Take a property of a paragraph of the body; tell whether the word is one."""
        match word:
            case "pard":
                self._level, self._in_row = None, False
            case "intbl":
                self._in_row = True
            case "s":
                self._level = self._level_of(number or "0")
            case "outlinelevel":
                self._level = int(number) if number and len(number) == 1 and number != "9" else None
            case _:
                return False
        return True

    def _of_table(self, group: _Group, word: str, number: str | None) -> None:
        """Take a property of a font or of a style."""
        if number and word == "fcharset" and group.kind == "fonttbl":
            self._symbols = self._font if number == "2" else self._symbols
            self._fonts[self._font] = _known(charset_map.get(int(number), ""), self._page)
        elif number and word == "cpg" and group.kind == "fonttbl":
            self._fonts[self._font] = _known(f"cp{number}", self._page)
        elif word == "s" and group.kind == "stylesheet":
            self._style = number or "0"
        elif word == "sbasedon" and group.kind == "stylesheet":
            self._based_on[self._style] = number or "0"
        elif word == "outlinelevel" and group.kind == "stylesheet" and number and len(number) == 1 and number != "9":
            self._levels[self._style] = int(number)

    def _level_of(self, style: str) -> int | None:
        """Return the level of a style's headings, which it may have from the style that it is based on."""
        for _ in self._based_on:
            if style in self._levels or style not in self._based_on:
                break
            style = self._based_on[style]
        return self._levels.get(style)

    def _add(self, group: _Group, text: str, *, ends: bool = False) -> None:
        """Add text to what the group belongs to; at the end of a paragraph or row, what waits for it."""
        if group.sink is None or group.deleted:
            return
        self._flush()
        if group.hidden and text not in {CELL, ROW, ROW_START}:
            self._hidden.append(text)
            return
        if group.sink is self._body and self._level is not None and text.strip() and not MARKS.match(text):
            self._body.append(chr(ord(HEADING) + self._level))
            self._level = None
        if group.raised and text.strip() and not MARKS.match(text):
            is_same = group.sink and group.sink[-1].endswith(LEVEL) and group.sink[-1].startswith(group.raised)
            text = f"{group.sink.pop()[:-1] if is_same else group.raised}{text}{LEVEL}"
        group.sink.append(text)
        if ends and group.sink is self._body and (text == ROW or not self._in_row):
            self._in_row = False
            self._hidden += ["\n"] if self._hidden else []
            for each in self._waiting:
                self._body.append(f"\n{each}\n")
            self._waiting = []

    def _add_bytes(self, group: _Group, held: bytes) -> None:
        if group.sink is None:
            if self._font == self._symbols and group.kind == "fonttbl" and held.strip(b" ;").lower() == b"symbol":
                self._fonts[self._font] = _SYMBOL
            named = _HEADING_STYLE.fullmatch(held.strip(b" ;\r\n")) if group.kind == "stylesheet" else None
            if named is not None:
                self._levels.setdefault(self._style, int(named[1] or 1) - 1)
            return
        if group.deleted or not held:
            return
        before = self._bytes_of
        now, then = ((each.sink, each.font, each.hidden, each.raised) for each in (group, before))
        if now != then:
            self._flush()
        self._bytes_of = group
        self._bytes += held

    def _flush(self) -> None:
        """Decode the bytes that wait: a character of two bytes may have control words between them."""
        held, group = bytes(self._bytes), self._bytes_of
        self._bytes.clear()
        if held:
            page = self._fonts.get(group.font, self._page)
            symbols = page == _SYMBOL
            text = held.decode("cp1252" if symbols else page, "replace")
            self._add(group, text.translate(SYMBOLS) if symbols else text)


def _character(code: int) -> str:
    """Return a character of 16 bits, bullets of symbol fonts as such; nothing where it would be a mark."""
    shown = chr(code % 0x10000)
    return _BULLETS.get(shown, "" if MARKS.match(shown) else shown)


def _known(page: str, otherwise: str) -> str:
    """Return the name of an encoding, or another one where Python does not know it."""
    try:
        return codecs.lookup(page).name
    except LookupError:
        return otherwise


def _whole(text: str) -> str:
    """Return a text with a character beyond U+FFFF as one: rich text has two surrogates."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
