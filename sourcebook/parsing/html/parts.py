"""HTML of a large tree in parts, because the conversion takes 20 times what it is given."""

from html import escape
from typing import Final

from sourcebook.parsing.html.tree import HEADINGS, Element

PART: Final = 100_000
"""Characters of HTML in a part, where something cuts it."""
_CONTAINERS: Final = frozenset({"article", "body", "div", "dl", "main", "section"})
_DEEPEST: Final = 50
"""Depth of the containers that are cut, each of which is copied with all around it."""


def html_of(element: Element, *, with_tail: bool = False) -> str:
    """Return the HTML of an element, and the text after it only where asked."""
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

    html: str = etree.tostring(element, method="html", encoding="unicode", with_tail=with_tail)
    return html


def html_in_parts(root: Element, *, size: int = PART) -> list[str]:
    """Return the HTML of a tree; of a large one in parts, whose Markdown together is that of the tree.

    Parts begin with a heading, or with a term of a list of definitions, and are containers like the ones around it.
    Containers with text of their own are not cut.

    Args:
        root: root of the tree.
        size: characters of HTML in a part; it has more where nothing cuts it.
    """
    html = html_of(root)
    if len(html) <= size or not _can_be_cut(root, 0):
        return [html]
    del html  # it would be kept beside its parts
    return _parts(root, size, 0)


def _parts(element: Element, size: int, depth: int) -> list[str]:
    parts = [element.text or ""]  # white space, which conversion heeds before a quotation
    for child in element:
        is_cut = _can_be_cut(child, depth + 1)
        first, *more = _parts(child, size, depth + 1) if is_cut else [html_of(child, with_tail=True)]
        if len(parts[-1]) + len(first) <= size or not _begins_part(child):
            parts[-1] += first
        else:
            parts.append(first)
        parts += more
        parts[-1] += (child.tail or "") if is_cut else ""
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in element.items())
    return [f"<{element.tag}{attributes}>{part}</{element.tag}>" for part in parts]


def _can_be_cut(element: Element, depth: int) -> bool:
    if element.tag not in _CONTAINERS or depth > _DEEPEST or next(element.iter(*HEADINGS, "dt"), None) is None:
        return False
    return not any(_has_text(text) for text in (element.text, *(child.tail for child in element)))


def _begins_part(element: Element) -> bool:
    previous = element.getprevious()
    if element.tag == "dt" and previous is not None and previous.tag == "dd":
        return True
    while element.tag in _CONTAINERS and not _has_text(element.text) and len(element):
        element = element[0]
    return element.tag in HEADINGS


def _has_text(text: str | None) -> bool:
    return bool(text) and not str(text).isspace()
