"""Anchors of headings: the ids that links to them use."""

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import quote

from sourcebook.parsing.html.tree import Element

_MOST_BLANK = 1_000
"""Elements without text before a heading whose ids are looked at, which bounds the time of hostile pages."""
_SPACE = re.compile(r"\s")
_MARKS = frozenset({"a", "span"})
"""Elements that hold nothing but mark a place within text."""


def anchor_of(heading: Element) -> str:
    """Return the id of a heading's place on its page, with white space as in a URL (`%20`); "" where there is none.

    It is the heading's id, or one within it, or one between the heading and the text before it: of an element that
    starts with the heading, or that marks the place, such as `<a name="…"></a>`. Of several of these, it is the one
    that a permalink in the heading names, or else the nearest. The last choice is the id of a permalink right after it.
    """
    return _own(heading) or _within(heading) or _before(heading) or _after(heading)


def _own(element: Element) -> str:
    name = element.get("id") or (element.get("name") if element.tag == "a" else None) or ""
    return "" if name.isspace() else _in_url(name)


def _in_url(name: str) -> str:
    """Return an id as it is written after `#`: white space is no part of a URL, and browsers decode it."""
    return _SPACE.sub(lambda space: quote(space[0]), name)


def _within(heading: Element) -> str:
    return next((name for element in heading.iter() if (name := _own(element))), "")


def _before(heading: Element) -> str:
    elements = islice(_without_text_before(heading), _MOST_BLANK)
    names = [name for element in elements if (name := _own(element))]
    linked = {_in_url((link.get("href") or "").removeprefix("#")) for link in heading.iter("a")} if names[1:] else ()
    return next((name for name in names if name in linked), names[0] if names else "")


def _without_text_before(heading: Element) -> Iterator[Element]:
    """Yield the elements that begin between a heading and the text before it, nearest first.

    `<p>Text.<a name="x"></a></p><h2>` has one, because the paragraph ends with it. Within such an element with text,
    only marks count, and not what has another purpose, such as a toolbar.
    """
    element, ended = heading, 0
    while True:
        previous = element.getprevious()
        if previous is not None:
            element = previous
            while not _has_text(element.tail) and len(element):
                element = element[-1]
                ended += 1
            if _has_text(element.tail) or _has_text(element.text) or _is_seen(element):
                return
            if not ended or element.tag in _MARKS:
                yield element
            continue
        parent = element.getparent()
        if parent is None or parent.tag in {"body", "form", "html"} or _has_text(parent.text):
            return
        element = parent
        if not ended:
            yield element
        ended = max(ended - 1, 0)


def _has_text(text: str | None) -> bool:
    return bool(text) and not str(text).isspace()


def _is_seen(element: Element) -> bool:
    """Whether an element without text shows something: the controls of a form are removed before."""
    return element.tag == "form" or (element.tag == "img" and _has_text(element.get("alt")))


def _after(heading: Element) -> str:
    following = heading.getnext()
    is_permalink = following is not None and following.tag == "a" and (following.get("href") or "").startswith("#")
    return _own(following) if following is not None and is_permalink and _is_empty(following) else ""


def _is_empty(element: Element) -> bool:
    return element.tag not in {"img", "hr"} and not any(text.strip() for text in element.itertext())
