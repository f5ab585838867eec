"""Raised and lowered parts of a page (`<sup>`, `<sub>`, `vertical-align`) in its text, as all formats write them."""

import re
from typing import Final

from sourcebook.parsing.html.tree import Element, all_text
from sourcebook.parsing.text.raised_text import lowered, raised

_STYLE: Final = re.compile(r"vertical-align\s*:\s*(super|sub)\b", re.IGNORECASE)
_INLINE: Final = frozenset(
    "a abbr b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strong sub sup tt u var".split()  # noqa: SIM905 # words are read more easily than quotes
)
_ENOUGH: Final = 80
"""Characters of a line that tell what is raised behind them."""
_WEB_LINK: Final = re.compile(r"\s*(?:https?|mailto|ftp):", re.IGNORECASE)
_SLASHES: Final = frozenset({"/", "⁄"})


def write_raised_parts(root: Element, *, local_links: bool = True) -> None:
    """Write signs of exponents and notes into the text, and make the elements that raise and lower it plain.

    Args:
        root: the readable part of a page.
        local_links: whether links within the page stay links, whose brackets keep the mark of a note apart.
    """
    found = [
        each
        for each in root.iter("sup", "sub", "span")
        if each.tag != "span" or ((style := each.get("style")) and _STYLE.search(style))
    ]
    parts = [(element, _after(element)) for element in found]
    for element, after in reversed(parts):  # `e<sup>x<sup>2</sup></sup>` from the inside
        text = "".join(all_text(element).split("\u00ad")).strip()
        if not text:  # an empty element, or a picture
            continue
        links = [link for link in (*element.iter("a"), *element.iterancestors("a")) if link.get("href") is not None]
        is_note = any(all_text(link).strip() == text for link in links)
        if is_note and any(local_links or _WEB_LINK.match(link.get("href") or "") for link in links):
            continue
        if _lowers(element):
            shown = lowered(text, before=_before(element))
        else:
            shown = raised(text, before=_before(element), after=after, is_note=is_note)
        sign, _, end = shown.partition(" ".join(text.split()))
        _write_around(element, sign, end)
        element.tag = "span"
        element.attrib.clear()


def _lowers(element: Element) -> bool:
    style = _STYLE.search(element.get("style") or "")
    return style[1].lower() == "sub" if style else element.tag == "sub"


def _write_around(element: Element, sign: str, end: str) -> None:
    element.text = f"{sign}{(element.text or '').lstrip()}" if sign else element.text
    if end and len(element):
        element[-1].tail = f"{(element[-1].tail or '').rstrip()}{end}"
    elif end:
        element.text = f"{(element.text or '').rstrip()}{end}"


def _before(element: Element) -> str:
    """Return the end of the line before an element."""
    text, place = "", element
    while len(text) < _ENOUGH:
        previous, parent = place.getprevious(), place.getparent()
        if previous is not None:
            text = f"{previous.tail or ''}{text}"
            if previous.tag not in _INLINE:
                break
            shown = all_text(previous)
            text = f"{'' if previous.tag == 'sub' and shown.isalpha() else shown}{text}"  # x of xᵢ² is the base
            place = previous
        elif parent is None:
            break
        else:
            text = f"{parent.text or ''}{text}"
            if parent.tag not in _INLINE or parent.tag in {"sub", "sup"}:
                break
            place = parent
    return text


def _after(element: Element) -> str:
    """Return the text behind an element, with `⁄` for the bar above a lowered number."""
    following = element.getnext()
    tail = element.tail or ""
    if tail.strip() in _SLASHES and following is not None and following.tag == "sub":
        return "⁄"
    return tail if tail.strip() or following is None else tail + all_text(following)
