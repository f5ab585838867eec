"""Detection of pages whose text is made by scripts."""

import re

from sourcebook.parsing.html.tree import Element, plain_text

_DATA_TYPES = re.compile(
    r"\s*(?:application/(?:ld\+)?json|text/(?:template|x-\S+)|importmap|speculationrules)", re.IGNORECASE
)
_MOUNT_POINTS = frozenset(
    {"root", "app", "__next", "__nuxt", "___gatsby", "app-root", "react-root", "q-app", "svelte", "main-app", "docsify"}
)
_PLACEHOLDER = re.compile(
    r"(?:loading|please wait|one moment|just a moment|redirecting)\b.{0,40}|.{0,80}\bjavascript\b.{0,160}",
    re.IGNORECASE,
)
_MANY_WORDS = 400
"""Words that are more than `_LITTLE` text, and more than any placeholder has."""
_LITTLE = 200
"""Characters of text beside an empty mount point, such as a menu and a footer, that still do not make a page."""


def has_scripts(tree: Element) -> bool:
    """Whether a page has a script that may make text."""
    return any(not _DATA_TYPES.match(script.get("type") or "") for script in tree.iter("script"))


def lacks_text(body: Element, text: str) -> bool:
    """Whether a page with scripts has no text yet.

    Args:
        body: the page's <body> without scripts and <noscript>.
        text: its main content. Any text makes a page, except a notice about loading or JavaScript, and except a few
            words beside the empty mount point of an application.
    """
    words = text.split(maxsplit=_MANY_WORDS)
    if len(words) > _MANY_WORDS:
        return not any(letter.isalnum() for letter in text)
    text = " ".join(words)
    if not any(letter.isalnum() for letter in text) or _PLACEHOLDER.fullmatch(text):
        return True
    return len(text) <= _LITTLE and any(_is_empty_mount_point(element) for element in body.iter())


def _is_empty_mount_point(element: Element) -> bool:
    is_place = element.get("id") in _MOUNT_POINTS or element.tag == "main" or "-" in element.tag
    return is_place and not plain_text(element) and next(element.iter("img"), None) is None
