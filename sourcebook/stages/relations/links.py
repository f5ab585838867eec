"""Links in Markdown: destinations of links, wiki links and HTML anchors, without code, comments and pictures."""

import re
from collections.abc import Iterator
from typing import Final

_FRONT_MATTER: Final = re.compile(r"\A(---|\+\+\+)[ \t]*\n.{0,65536}?^(?:\1|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_NO_PROSE: Final = re.compile(
    r"""
    ^[ \t>]*(?:[-*+][ ]+|\d{1,9}[.)][ ]+)?(?P<fence>`{3,}+(?![^`\n]*`)|~{3,}+)[^\n]*\n
        (?:.*?^[ \t>]*(?P=fence)[`~]*[ \t]*$|.*\Z)
    |(?<![`\\])(?P<ticks>`{1,5})(?!`)[^`]{1,1000}(?P=ticks)(?!`)
    |<!--(?:(?!<!--).){0,5000}?-->
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_DESTINATION: Final = re.compile(
    r"\]\([ \t]*\n?[ \t]*(?:<([^<>\n]{1,2000})>|((?:\\.|[^\s()\\]|\([^\s()]{0,500}\)){1,2000}))"
)
_DEFINITION: Final = re.compile(r"^[ ]{0,3}\[(?!\^)[^\]\n]{1,200}\]:[ \t]*<?([^\s<>]{1,2000})>?", re.MULTILINE)
_ANCHOR: Final = re.compile(r"""<a\s[^>]{0,500}?href\s*=\s*["']([^"'\n]{1,2000})["']""", re.IGNORECASE)
_AUTOLINK: Final = re.compile(r"<(https?://[^\s<>]{1,2000})>", re.IGNORECASE)
_WIKI: Final = re.compile(r"\[\[([^\[\]|#^\n]{1,300})(?:[#^][^\[\]|\n]{0,300})?(?:\\?\|[^\[\]\n]{0,300})?\]\](?!\()")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENTITY: Final = re.compile(r"&amp;")
_BRACKET: Final = re.compile(r"\\.|[\[\]]", re.DOTALL)
_OTHER_SCHEME: Final = re.compile(r"(?!https?://|file://)[A-Za-z][A-Za-z0-9+.-]{0,30}:", re.IGNORECASE)


def prose(markdown: str) -> str:
    """Return Markdown without front matter, code and comments; what is cut out leaves a space."""
    return _NO_PROSE.sub(" ", _FRONT_MATTER.sub("", markdown))


def link_targets(text: str) -> Iterator[str]:
    """Yield the destinations of links in reading order by kind: anchors of the page itself and mail are none.

    Args:
        text: markdown without code, as `prose` returns it.
    """
    found_links = list(_DESTINATION.finditer(text))
    texts = _link_texts(text) if found_links else frozenset()
    for found in found_links:
        if found.start() in texts:
            yield from _target(found[1] or found[2])
    for pattern in (_DEFINITION, _ANCHOR, _AUTOLINK):
        for found in pattern.finditer(text):
            yield from _target(found[1])


def wiki_targets(text: str) -> Iterator[str]:
    """Yield the names in wiki links such as `[[Name#part|text]]`."""
    for found in _WIKI.finditer(text):
        name = found[1].strip()
        if name:
            yield name


def _target(written: str) -> Iterator[str]:
    target = _ENTITY.sub("&", _ESCAPE.sub(r"\1", written)).strip()
    if target and not target.startswith(("#", "?")) and not _OTHER_SCHEME.match(target):
        yield target


def _link_texts(text: str) -> frozenset[int]:
    """Return the places of closing brackets with an opening one that no exclamation mark makes a picture's."""
    opened: list[int] = []
    closing: list[int] = []
    for found in _BRACKET.finditer(text):
        if found[0] == "[":
            opened.append(found.start())
        elif found[0] == "]" and opened:
            start = opened.pop()
            if start == 0 or text[start - 1] != "!":
                closing.append(found.start())
    return frozenset(closing)
