"""Text in place of scripts and embedded objects: `<noscript>`, and the content of `<object>`, `<video>` …

It is shown where it holds text that the page has nowhere else. Notices that a browser lacks something, pictures that
scripts load later, and tracking pixels are no text of a page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sourcebook.parsing.html.boilerplate import demote, is_hidden
from sourcebook.parsing.html.folded import LEAST, LONGEST
from sourcebook.parsing.html.linked_data import linked_texts
from sourcebook.parsing.html.tree import (
    Element,
    body_of,
    drop,
    found,
    parse_page,
    plain_text,
    prose_length,
    subelement,
    text_length,
    unwrap,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TAGS: Final = ("noscript", "object", "video", "audio", "canvas", "iframe")
_SILENT: Final = ("script", "style", "template", "svg", "select", "textarea", "datalist")
_BLOCKS: Final = (
    "blockquote", "dd", "div", "dl", "dt", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ol", "p", "pre",
    "section", "table", "ul",
)  # fmt: skip
_FEWEST_WORDS: Final = 4
"""Words of a fallback that says something; fewer are a label."""
_LONGEST_NOTICE: Final = 40
"""Words of a notice."""
_NOTICE: Final = re.compile(
    r"java\s?script|\bscript(?:s|ing)\b"
    r"|\b(?:your|this|ihr|dein|votre|tu|su|seu|tuo|ваш)\w* (?:web[ -]?)?(?:browser|nav|браузер)|浏览器|ブラウザ"
    r"|\bflash player\b"
    r"|\bplug-?ins?\b|(?:support|display|play|view|unterstütz)\w*.{0,40}"
    r"\b(?:html5?|frames?|iframes?|video|audio|canvas|pdf|embedded)\b",
    re.IGNORECASE | re.DOTALL,
)
_DATA: Final = (
    "descendant::script[@type = 'application/ld+json'][contains(., 'articleBody') or contains(., 'acceptedAnswer')]"
    "/text()"
)
_OWN_TEXT: Final = (
    "descendant::text()[not(ancestor::noscript or ancestor::object or ancestor::video or ancestor::audio "
    "or ancestor::canvas or ancestor::iframe or ancestor::script or ancestor::style)]"
)


def show_fallbacks(tree: Element, body: Element) -> tuple[int, int]:
    """Put the text of fallbacks that is nowhere else on a page in their place.

    All together show no more than the page does, or `LONGEST` characters where that shows fewer.

    Args:
        tree: the page, with the data for search engines in its head.
        body: its body, which is changed.

    Returns:
        The number of fallbacks that are shown, and of the words of those that are too long.
    """
    parts = [each for each in body.iter(*_TAGS) if _may_say_something(each)]
    data = found(tree, _DATA)
    if not parts and not data:
        return 0, 0
    seen = _words(found(body, _OWN_TEXT))
    if len(seen) < LEAST:
        parts += _linked_texts(data, body)
    left = max(len(seen), LONGEST)
    done: set[Element] = set()
    shown = too_long = 0
    for part in parts:
        if any(is_hidden(dict(each.items())) for each in (part, *part.iterancestors())):
            continue
        if part in done or (part.tag == "iframe" and not _parse(part)):
            continue
        _drop_noise(part, seen)
        text = _words_of(part)
        if len(text.split()) < _FEWEST_WORDS or text in seen or 2 * prose_length(part) < text_length(part):
            continue
        if len(text) > left:
            too_long += len(text.split())
            continue
        left -= len(text)
        seen = f"{seen} {text}"
        shown += 1
        inner = list(part.iter(*_TAGS))  # such as an <object> for browsers that do not know a <video>
        done.update(inner)
        for each in reversed(inner):
            unwrap(each)
    return shown, too_long


def _linked_texts(data: list[str], body: Element) -> list[Element]:
    """Put the texts that a page without text has for search engines at its end, and return their elements."""
    html = "".join(text for each in data for text in linked_texts(each))
    page = parse_page(html) if html else None
    if page is None:
        return []
    part = subelement(body, "noscript")
    for each in list(body_of(page)):
        part.append(each)
    return [part]


def _may_say_something(part: Element) -> bool:
    return part.tag == "iframe" or len(_words_of(part).split()) >= _FEWEST_WORDS


def _words(texts: Iterable[str]) -> str:
    """Return texts, such as those of cells, as words to be compared."""
    return f" {' '.join(' '.join(texts).casefold().split())} "


def _words_of(element: Element) -> str:
    return _words(found(element, "descendant::text()"))


def _parse(frame: Element) -> bool:
    """Read the text in a frame, which is raw, as HTML."""
    page = parse_page(frame.text) if frame.text and frame.text.strip() else None
    if page is None:
        return False
    content = body_of(page)
    demote(content)
    content.tag, content.tail = "div", None
    frame.clear(keep_tail=True)
    frame.append(content)
    return True


def _drop_noise(part: Element, seen: str) -> None:
    """Remove from a fallback its scripts and pictures, its notices, and the paragraphs that the page has elsewhere."""
    for each in list(part.iter(*_SILENT, "img")):
        drop(each)
    for each in list(_leaves(part)):
        text = plain_text(each)
        if text and (_is_notice(text) or _words_of(each) in seen):
            if each is part:
                part.text = None
                for child in list(part):
                    part.remove(child)
            else:
                drop(each)


def _leaves(part: Element) -> Iterator[Element]:
    """Yield the blocks of a fallback that hold no other; the fallback itself where it has none."""
    blocks = [each for each in part.iter(*_BLOCKS) if each is not part]
    yield from (each for each in blocks if sum(1 for _ in each.iter(*_BLOCKS)) == 1) if blocks else (part,)


def _is_notice(text: str) -> bool:
    return len(text.split()) <= _LONGEST_NOTICE and _NOTICE.search(text) is not None
