"""Titles of headings and documents, without Markdown."""

from collections.abc import Iterable, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sourcebook.model.document import Block

LONGEST_TITLE = 300
"""Characters to which a title is cut, because each chunk below a heading repeats it."""
_LONGEST_INLINE = 2000
"""Characters of a heading above which its Markdown is kept as it is."""


def plain_title(inline_markdown: str) -> str:
    """Return a heading's text without emphasis, links, HTML and images, cut to 300 characters, on one line."""
    text = inline_markdown
    if len(text) <= _LONGEST_INLINE and not text.isalnum():
        text = "".join(_text(_inline().parseInline(text)))
    return cut_title(text)


def cut_title(text: str) -> str:
    """Return a text on one line, cut to 300 characters."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 1].rstrip() + "…"


def document_title(blocks: Sequence[Block]) -> str | None:
    """Return the text of the first H1, else of the first block if that is a heading, else None."""
    first_h1 = next((block.title for block in blocks if block.level == 1 and block.title), None)
    return first_h1 or (blocks[0].title or None if blocks else None)


def _text(tokens: Iterable[Token]) -> Iterable[str]:
    for token in tokens:
        if token.type in {"text", "code_inline", "text_special"}:
            yield token.content
        elif token.type in {"softbreak", "hardbreak"}:
            yield " "
        elif token.children:
            yield from _text(token.children)


@cache
def _inline() -> MarkdownIt:
    return MarkdownIt("commonmark")
