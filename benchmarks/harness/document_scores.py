"""Similarity of two Markdown texts: words, their order, headings, table cells."""

import html
import re
from collections import Counter
from difflib import SequenceMatcher

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PLACEHOLDER = re.compile(r"<!--.*?-->", re.DOTALL)
_ENTITY = re.compile(r"&#?\w+;")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_PUNCTUATION = ".,:;!?… "


def words(markdown: str) -> list[str]:
    r"""Return the words (`\w+`) in their order, without image placeholders, HTML entities and escapes."""
    text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), _PLACEHOLDER.sub(" ", markdown))
    return re.findall(r"\w+", _ESCAPE.sub(r"\1", text))


def headings(markdown: str) -> Counter[str]:
    """Return the count of each heading of any level, case-folded, without marks around it."""
    return sum(headings_by_level(markdown).values(), Counter())


def headings_by_level(markdown: str) -> dict[int, Counter[str]]:
    """Return the count of each heading, case-folded, without marks around it, by its level from 1 to 6."""
    tokens = _tokens(markdown)
    inside: dict[int, list[Token]] = {}
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            inside.setdefault(int(token.tag.removeprefix("h")), []).append(tokens[at + 1])
    return {level: _counted(found) for level, found in inside.items()}


def table_cells(markdown: str) -> Counter[str]:
    """Return the count of each table cell with text, headers included."""
    tokens = _tokens(markdown)
    inside = [tokens[at + 1] for at, token in enumerate(tokens) if token.type in {"th_open", "td_open"}]
    return _counted(inside)


def share_found(expected: Counter[str], found: Counter[str]) -> float | None:
    """Return the share of expected items that was found, repetitions counted: 0 to 1; None without any."""
    return (expected & found).total() / expected.total() if expected else None


def order_similarity(expected: list[str], found: list[str]) -> float:
    """Return difflib's ratio of two sequences of words: 2 × matches / the length of both, 0 to 1."""
    return SequenceMatcher(None, expected, found, autojunk=False).ratio()


def _tokens(markdown: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(_PLACEHOLDER.sub(" ", markdown))


def _counted(inlines: list[Token]) -> Counter[str]:
    texts = ["".join(_text(child) for child in inline.children or ()) for inline in inlines]
    return Counter(text for text in map(_normal, texts) if text)


def _text(token: Token) -> str:
    return " " if token.type in {"softbreak", "hardbreak", "html_inline"} else token.content


def _normal(text: str) -> str:
    """Fold case, make white space one space, drop punctuation at the end; punctuation alone stays."""
    folded = " ".join(text.casefold().split())
    return folded.rstrip(_PUNCTUATION) or folded
