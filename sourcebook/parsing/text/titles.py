"""Titles of headings and documents, without Markdown."""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sourcebook.model.document import Block

LONGEST_TITLE = 300
"""Characters to which a title is cut, because each chunk below a heading repeats it."""
_PLACEHOLDER = re.compile(
    r"(?:(?:power ?point|microsoft|word|ms)[ -]*)*(?:presentation|präsentation|document|dokument)(?: ?\d+)?"
    r"|(?:présentation|presentación(?: de)?|presentazione(?: di)?|apresentação do|презентация) power ?point"
    r"|power ?point[ -]?(?:presentatie|presentasjon|præsentation|esitys|bemutató|sunusu)"
    r"|power ?point[ -]?(?:演示文稿|簡報|프레젠테이션|プレゼンテーション)"
    r"|(?:prezentac(?:ja|e|ia)|prezentácia|prezentare|презентація|παρουσίαση|عرض تقديمي|מצגת)"
    r" (?:(?:programu|aplikace|του|في|של) )?power ?point|presentazione standard di power ?point|kein folientitel"
    r"|microsoft (?:word|excel|power ?point)(?: - .*)?"
    r"|(?:slide|folie|diapositive|diapositiva|page|sheet|layout|blank|foil)(?: ?\d+)?"
    r"|(?:enscript|a2ps|groff|stdin|standard|printer|print|full page fax)[ -]*(?:output|input|print|job)?"
    r"|(?:untitled|unbenannt|sans titre|no title|title|name|none|null)[ -]*(?:document|presentation|page)?[ -]*\d*"
    r"|[\W_]*",
    re.IGNORECASE,
)
"""Titles that programs write: Enscript Output, PowerPoint Presentation, Microsoft Word - letter.doc, untitled."""
_NAME_LINE = re.compile(r"[^\s,][^\n]{0,120}? (?:-{1,2}|–|—) \S")
_MARKS = re.compile(r"[\\`*_\[\]<&!\n]")
"""Characters that may begin or end something else than text."""
_SHOWN_AS = re.compile(r"\[\[[^\[\]|\n]+\|([^\[\]|\n]+)\]\]")
"""A wiki link with the text that is shown for it."""
_LONGEST_INLINE = 2000
"""Characters of a heading above which its Markdown is kept as it is."""


def plain_title(inline_markdown: str) -> str:
    """Return a heading's text without emphasis, links, HTML and images, cut to 300 characters, on one line."""
    text = inline_markdown
    if len(text) <= _LONGEST_INLINE and _MARKS.search(text) is not None:
        text = "".join(_text(_inline().parseInline(_SHOWN_AS.sub(r"\1", text))))
    return cut_title(text)


def cut_title(text: str) -> str:
    """Return a text on one line, cut to 300 characters."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 1].rstrip() + "…"


def document_title(blocks: Sequence[Block], markdown: str = "") -> str | None:
    """Return the text of the first H1, else of the first block if that is a heading, else None.

    The title of a manual page is the line below its heading NAME, such as `ls - list directory contents`, and none of
    its headings.

    Args:
        blocks: the blocks of the document.
        markdown: the text of the document, in which a manual page names itself.
    """
    first_h1 = next((block.title for block in blocks if block.level == 1 and block.title), None)
    title = first_h1 or (blocks[0].title or None if blocks else None)
    return title if title is None or title.casefold() != "name" else _named_below(blocks, title, markdown)


def is_title(text: str) -> bool:
    """Tell whether a title in a file's properties is one, and none that a program writes into every file."""
    return _PLACEHOLDER.fullmatch(" ".join(text.split())) is None


def _named_below(blocks: Sequence[Block], title: str, markdown: str) -> str | None:
    position = next(number for number, block in enumerate(blocks) if block.title == title)
    below = blocks[position + 1] if position + 1 < len(blocks) else None
    if below is None or below.level:
        return None
    line = plain_title(markdown[below.start : below.end].strip().partition("\n\n")[0])
    return line if _NAME_LINE.match(line) else None


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
