"""The text of an HTML page inside its reference container, with the places of ids and headings.

It is read with the standard library's parser, event by event: neither the parser nor the code of the measured crawl.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from string import ascii_lowercase
from urllib.parse import unquote

_LEFT_OUT = ("button", "head", "noscript", "script", "select", "style", "svg", "template")
"""Elements that a reader sees no text of, or whose text is a control's or a drawing's."""
_WITHIN_WORDS = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q s samp small span "
    "strike strong sub sup time tt u var wbr"
)
_IN_LINE = frozenset(_WITHIN_WORDS.split())
"""Elements that do not separate words."""
_WITHOUT_END = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_WITHOUT_END.split())
_END_LEFT_OUT = "dd dt li option p td th tr"
_SURELY_ENDED = re.compile(rf"(?!(?:{'|'.join((*_VOID, *_END_LEFT_OUT.split()))})\Z)")
"""Names of elements whose end is written."""
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_TABLE_PARTS = frozenset({"table", "tr", "td", "th"})
_NUMBERED = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
"""Kinds of numbered lists by the classes of docutils."""
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
"""Soft hyphens and spaces without width, which are part of no word."""


@dataclass(frozen=True)
class Selector:
    """The elements of one name, and of one class or id where given: `div.body`, `div#content`, `nav`."""

    name: str
    kind: str = ""
    value: str = ""

    @classmethod
    def of(cls, text: str) -> "Selector":
        """Read a selector."""
        found = re.fullmatch(r"(\w+)(?:([.#])([\w-]+))?", text)
        if found is None:
            raise ValueError(f"{text!r} is no selector of a name, a class or an id")
        return cls(*found.groups(""))

    def takes(self, name: str, attributes: dict[str, str]) -> bool:
        """Return whether it selects an element."""
        if name != self.name:
            return False
        if self.kind == "#":
            return attributes.get("id") == self.value
        return not self.kind or self.value in attributes.get("class", "").split()


@dataclass
class Heading:
    """A heading: the letters between `start` and `end`."""

    start: int
    end: int


@dataclass(frozen=True)
class ReferencePage:
    """A page inside its container. Places are numbers of letters and digits from the beginning of the container."""

    text: str
    """Text, with a line break between blocks."""
    optional: str
    """Text of those of its parts that a crawl may keep or leave out."""
    ids: dict[str, int]
    """Place of each id, and of each name of an `<a>`."""
    headings: tuple[Heading, ...]
    spanning: tuple[tuple[int, int], ...] = ()
    """Places where table cells that span several rows or columns begin and end."""

    @cached_property
    def repeated(self) -> frozenset[str]:
        """The letters of cells that span rows or columns: Markdown has no spans, and repeats such a cell in each."""
        return frozenset(self.letters[start:end] for start, end in self.spanning)

    @cached_property
    def letters(self) -> str:
        """The letters and digits of the text, case-folded one by one."""
        return letters(self.text)

    @cached_property
    def anchored(self) -> tuple[int, ...]:
        """Starts of the headings with an id: on them, in them, or with nothing between it and their text."""
        places = sorted(set(self.ids.values()))
        return tuple(
            heading.start for heading in self.headings if any(heading.start <= place < heading.end for place in places)
        )

    def section(self, anchor: str | None) -> tuple[int, int] | None:
        """Return the places between which a passage with this anchor begins; None where there is no such id.

        The section reaches from the anchor, or from the heading that the id is in, to the next heading with an id.
        Without an anchor it reaches from the beginning of the page to the first such heading that is not the page's
        first one, as a link to the page leads there.
        """
        if anchor is None:
            first = self.headings[0].start if self.headings else 0
            return 0, min((begin for begin in self.anchored if begin > first), default=len(self.letters) + 1)
        place = self.ids.get(anchor, self.ids.get(unquote(anchor)))
        if place is None:
            return None
        start = max((heading.start for heading in self.headings if heading.start <= place < heading.end), default=place)
        return start, min((begin for begin in self.anchored if begin > place), default=len(self.letters) + 1)


def letters(text: str) -> str:
    """Return the letters and digits of a text, case-folded one by one, so that places in it can be counted."""
    return "".join(letter.lower()[0] for letter in text if letter.isalnum())


def words(text: str) -> list[str]:
    r"""Return the words (`\w+`) of a text, case-folded, in their order."""
    return re.findall(r"\w+", _INVISIBLE.sub("", text).casefold())


def read_page(
    content: bytes,
    *,
    inside: str,
    without: Sequence[str] = (),
    optional: Sequence[str] = (),
    marginal: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> ReferencePage:
    """Read a page in UTF-8.

    Args:
        content: the page.
        inside: selector of the container; the page may hold several.
        without: selectors of what is left out of it, besides scripts, styles, drawings and buttons.
        optional: selectors of the parts that a crawl may keep or leave out, besides those that a style hides
            and the texts in place of images.
        marginal: selectors of parts whose text is read, but whose ids are those of no heading.
        notes: selectors of notes and warnings, whose titles are no headings: what follows a note is not part of it.
    """
    reader = _Reader(
        Selector.of(inside),
        [Selector.of(text) for text in (*_LEFT_OUT, *without)],
        [Selector.of(text) for text in optional],
        [Selector.of(text) for text in marginal],
        [Selector.of(text) for text in notes],
    )
    reader.feed(content.decode("utf-8", "replace"))
    reader.close()
    return ReferencePage(
        "".join(reader.pieces), "".join(reader.spare), reader.ids, tuple(reader.headings), tuple(reader.spanning)
    )


@dataclass
class _Open:
    """An element whose end is awaited: elements of its name inside of it are counted."""

    name: str
    depth: int = 1


@dataclass
class _List:
    """A list that is open."""

    kind: str
    """First of its marks, as the attribute `type` has it: a, A, i or I; anything else is a number or a point."""
    items: int = 0

    @classmethod
    def of(cls, tag: str, attributes: dict[str, str]) -> "_List":
        """Read the kind of a list; style sheets of docutils show classes so."""
        named = next((_NUMBERED[name] for name in attributes.get("class", "").split() if name in _NUMBERED), "1")
        return cls(attributes.get("type", named) if tag == "ol" else "")

    def next_mark(self) -> str:
        """Return the letters that a browser shows before the next item; none where it is a number or a point."""
        self.items += 1
        if self.kind in {"a", "A"} and self.items <= len(ascii_lowercase):
            return f"{chr(ord(self.kind) + self.items - 1)}. "
        if self.kind in {"i", "I"} and self.items <= len(_ROMAN):
            mark = _ROMAN[self.items - 1]
            return f"{mark.upper() if self.kind == 'I' else mark}. "
        return ""


@dataclass
class _Reader(HTMLParser):
    container: Selector
    left_out: list[Selector]
    optional: list[Selector]
    marginal: list[Selector]
    notes: list[Selector]
    pieces: list[str] = field(default_factory=list)
    spare: list[str] = field(default_factory=list)
    """Those of the pieces that are optional."""
    ids: dict[str, int] = field(default_factory=dict)
    headings: list[Heading] = field(default_factory=list)
    spanning: list[tuple[int, int]] = field(default_factory=list)
    _cell: int | None = None
    """Place where the cell begins that spans rows or columns and is open."""
    _place: int = 0
    _lists: list[_List] = field(default_factory=list)
    _open: dict[str, _Open] = field(default_factory=dict)
    """The outermost element of each kind that is open: inside, outside, optional, marginal, note."""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    @property
    def _reads(self) -> bool:
        return "inside" in self._open and "outside" not in self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for opened in self._open.values():
            opened.depth += opened.name == tag
        attributes = {name: value or "" for name, value in attrs}
        if "inside" not in self._open and self.container.takes(tag, attributes):
            self._open["inside"] = _Open(tag)
        if not self._reads:
            return
        if any(selector.takes(tag, attributes) for selector in self.left_out):
            self._open["outside"] = _Open(tag)
            return
        if "optional" not in self._open and self._is_optional(tag, attributes):
            self._open["optional"] = _Open(tag)
        for kind, selectors in (("marginal", self.marginal), ("note", self.notes)):
            if kind not in self._open and any(selector.takes(tag, attributes) for selector in selectors):
                self._open[kind] = _Open(tag)
        for name in (attributes.get("id"), attributes.get("name") if tag == "a" else None):
            if name and "marginal" not in self._open:
                self.ids.setdefault(name, self._place)
        self._part(tag)
        if tag in _TABLE_PARTS:
            self._end_cell()
            spans = {attributes.get(name, "1").strip() for name in ("colspan", "rowspan")}
            self._cell = self._place if tag in {"td", "th"} and spans - {"", "1"} else None
        if tag in {"ol", "ul"}:
            self._lists.append(_List.of(tag, attributes))
        if tag == "li" and self._lists:
            self._write(self._lists[-1].next_mark(), optional=True)
        if tag == "img" and "alt" in attributes:
            self._write(attributes["alt"], optional=True)
        if tag in _HEADINGS and "note" not in self._open:
            self.headings.append(Heading(self._place, self._place))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._reads:
            self._part(tag)
            if tag in _TABLE_PARTS:
                self._end_cell()
            if tag in {"ol", "ul"} and self._lists:
                self._lists.pop()
            if tag in _HEADINGS and self.headings and "note" not in self._open:
                self.headings[-1].end = self._place
        if tag in {"body", "html"}:
            return  # browsers add what follows to the body
        for kind, opened in list(self._open.items()):
            opened.depth -= opened.name == tag
            if not opened.depth:
                del self._open[kind]

    def handle_data(self, data: str) -> None:
        if self._reads:
            self._write(data)

    def _end_cell(self) -> None:
        if self._cell is not None and self._cell < self._place:
            self.spanning.append((self._cell, self._place))
        self._cell = None

    def _is_optional(self, tag: str, attributes: dict[str, str]) -> bool:
        hidden = _HIDDEN.search(attributes.get("style", "")) and _SURELY_ENDED.match(tag)
        return bool(hidden) or any(selector.takes(tag, attributes) for selector in self.optional)

    def _part(self, tag: str) -> None:
        if tag not in _IN_LINE:
            self._write("\n")

    def _write(self, text: str, *, optional: bool = False) -> None:
        self.pieces.append(text)
        self._place += len(letters(text))
        if optional or "optional" in self._open:
            self.spare.append(text)
