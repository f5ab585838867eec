"""Lengths of an element's text, in characters."""

from collections.abc import Callable
from functools import cache

from sourcebook.parsing.html.tree import Element, all_text


def text_length(element: Element) -> int:
    """Return the number of characters of an element, with white space collapsed."""
    return int(_length()(element))


def prose_length(element: Element) -> int:
    """Return the number of characters of an element outside links."""
    links = _outer_links()(element)
    return text_length(element) - sum(len(all_text(link)) if len(link) else len(link.text or "") for link in links)


@cache
def _length() -> Callable[[Element], float]:
    """Return the function that counts the characters of an element, with white space collapsed."""
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

    path: Callable[[Element], float] = etree.XPath("string-length(normalize-space(.))")
    return path


@cache
def _outer_links() -> Callable[[Element], list[Element]]:
    """Return the function that lists the links of an element, itself included, without those within another link."""
    from lxml import etree

    path: Callable[[Element], list[Element]] = etree.XPath("descendant-or-self::a[not(ancestor::a)]")
    return path
