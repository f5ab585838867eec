"""Correction of faulty HTML as browsers read it, with lexbor, where libxml2's tree differs from theirs."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol

_FORMATTING = re.compile(r"<(?=(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/>])", re.IGNORECASE)
_FORMAT = r"(b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)"
_CROSSED = re.compile(rf"<{_FORMAT}><{_FORMAT}>(?:[^<]++|<a\s[^<>]*+>[^<]*+</a>|<br\s*/?>)*+</\1></\2>", re.IGNORECASE)
_LINE_BREAK_END = re.compile(r"</br\s*>", re.IGNORECASE)
# A tag that surely ends where this says, so that equal texts are equal tags.
_PLAIN_TAG = re.compile(
    r"""<\w+(?:\s+[\w:-]{1,40}(?:=(?:"[^"<>]{0,200}"|'[^'<>]{0,200}'|[\w.#/-]{1,200}))?){0,20}\s*/?>"""
)
_ALIKE = 3
"""Equal unclosed elements that browsers open again in a paragraph; they forget more."""
_MOST_ELEMENTS = 1_000_000
"""Limit on the elements that a page may become by unclosed formatting, which browsers open again in each paragraph."""
_PARTS_OF_TABLES = frozenset(
    {
        "caption", "col", "colgroup", "form", "input", "noscript", "script", "style", "tbody", "td", "template",
        "tfoot", "th", "thead", "tr",
    }
)  # fmt: skip
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


class Node(Protocol):
    """Part of the interface of lxml's elements."""

    @property
    def tag(self) -> str: ...
    def __iter__(self) -> Iterator["Node"]: ...
    def __len__(self) -> int: ...
    def iter(self, *tags: str) -> Iterator["Node"]: ...


def is_misread(tree: Node) -> bool:
    """Whether browsers read a page otherwise than libxml2 did, though libxml2 reports no error.

    Browsers end a heading where another begins and a link where another begins, and put text in a table before it.
    """
    return (
        any(_holds(heading, _HEADINGS) for heading in tree.iter(*_HEADINGS))
        or any(len(link) and _holds(link, ("a",)) for link in tree.iter("a"))
        or any(child.tag not in _PARTS_OF_TABLES for part in tree.iter("table", "tr") for child in part)
    )


def are_crossed_ends(faults: Sequence[str], text: str) -> bool:
    """Whether all faults of a page are end tags in the wrong order, as in `<small><i>…</small></i>`.

    Browsers end both elements at the first of these tags and ignore the second, and so does libxml2.

    Args:
        faults: messages of libxml2 about end tags, at least one.
        text: the page.
    """
    expected: Counter[str] = Counter()
    for crossed in _CROSSED.finditer(text):
        outer, inner = crossed[1].lower(), crossed[2].lower()
        if outer != inner:
            expected[f"Opening and ending tag mismatch: {outer} and {inner}"] += 1
            expected[f"Unexpected end tag : {inner}"] += 1
    return expected == Counter(faults)


def with_line_breaks(text: str) -> str:
    """Return HTML with `<br>` in place of `</br>`, which browsers read so, and libxml2 ignores."""
    return _LINE_BREAK_END.sub("<br>", text) if "</br" in text or "</BR" in text else text


def as_browsers_read(text: str) -> str | None:
    """Return a page's HTML with every element ended where a browser ends it; None where it could grow too much.

    Args:
        text: HTML of which libxml2 nests no element more than 256 deep, because lexbor's time grows with the square.
    """
    places = [found.start() for found in _FORMATTING.finditer(text)]
    elements = text.count("<")
    if (len(places) + 1) * elements > _MOST_ELEMENTS:
        tags = Counter(_tag_at(text, place) for place in places)
        unclosed = sum(min(number, _ALIKE) if tag else number for tag, number in tags.items())
        if (unclosed + 1) * elements > _MOST_ELEMENTS:
            return None
    from selectolax.lexbor import LexborHTMLParser

    # An end tag </p> without a paragraph makes an empty one.
    return (LexborHTMLParser(text).html or "").replace("<p></p>", "")


def _tag_at(text: str, start: int) -> str:
    """Return the tag at a place, "" where its end is not plain."""
    tag = _PLAIN_TAG.match(text, start)
    return tag[0] if tag else ""


def _holds(element: Node, tags: tuple[str, ...]) -> bool:
    return any(inner is not element for inner in islice(element.iter(*tags), 2))
