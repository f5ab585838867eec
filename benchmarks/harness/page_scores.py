"""Stored Markdown of pages against their reference containers: words found, words too many, anchors of passages."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, takewhile

from markdown_it import MarkdownIt
from markdown_it.token import Token

from benchmarks.corpora.reference_page import ReferencePage, letters, words

_MARK = "\ue000"
"""Mark at the beginning of a passage, a letter that no page uses."""
_BEFORE_TEXT = re.compile(
    r"(?:[ \t>]*(?:\#{1,6}[ \t]+|[-*+][ \t]+|\d{1,9}[.)][ \t]+|\|[ \t]*|(?:`{3,}|~{3,})[^\n]*\n|\n)|[ \t]+)*"
)
"""Markdown's marks of headings, lists, quotes, tables and code, between which and the text a mark changes nothing."""
_FIRST_LETTERS = 40
"""Letters at the beginning of a passage that are looked for in the page."""
_ENOUGH = 2000
"""Characters of Markdown that hold the first letters of any passage."""
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True)
class Words:
    """Counts of words, repetitions counted."""

    expected: int = 0
    """Words of the reference, without its optional parts."""
    found: int = 0
    """Words of these that are stored."""
    stored: int = 0
    foreign: int = 0
    """Stored words that the reference does not have, its optional parts included."""

    def __add__(self, other: "Words") -> "Words":
        return Words(
            self.expected + other.expected,
            self.found + other.found,
            self.stored + other.stored,
            self.foreign + other.foreign,
        )

    @property
    def recall(self) -> float | None:
        """Share of the expected words that is stored, 0 to 1."""
        return self.found / self.expected if self.expected else None

    @property
    def noise(self) -> float | None:
        """Share of the stored words that the reference does not have, 0 to 1."""
        return self.foreign / self.stored if self.stored else None


@dataclass(frozen=True)
class Passage:
    """A passage of a stored page: `markdown[start:end]`."""

    anchor: str | None
    start: int
    end: int


def compare(reference: ReferencePage, markdown: str) -> Words:
    """Compare the words of a page; their order does not count."""
    allowed, stored = Counter(words(reference.text)), Counter(words(plain_text(markdown)))
    expected = allowed - Counter(words(reference.optional))
    return Words(expected.total(), (expected & stored).total(), stored.total(), (stored - allowed).total())


def plain_text(markdown: str) -> str:
    """Return the text of Markdown as a reader sees it, with a line break between blocks.

    HTML within Markdown is text: `<file>` is a word of a manual, and a tag of a page is noise.
    """
    return "\n".join(text for _, text in _blocks(markdown))


def anchor_fault(reference: ReferencePage, markdown: str, passage: Passage) -> str | None:
    """Return the fault of a passage's anchor; None where it is right.

    It is right where the page has it, and where the first words of the passage follow it, block by block, before the
    next heading with an id. The first words are forty letters, or those before the passage's second heading; they begin
    with any of the headings that the passage begins with, because a heading without text of its own is a heading of the
    next one's section. Cells that span rows or columns do not count, unless there is nothing else, because a passage
    may begin with their repetition, alone or before the text of a header below them. A passage without an
    anchor begins before any heading with an id but the page's first one.
    """
    section = reference.section(passage.anchor)
    if section is None:
        return f"the page has no id {passage.anchor!r}"
    beginning = list(_beginning(markdown, passage, reference.repeated))
    if not beginning:
        return "the passage has no words"
    headings = next((number for number, (is_heading, _) in enumerate(beginning) if not is_heading), len(beginning))
    beginning = [*beginning[:headings], *_once(_until_heading(beginning[headings:]), reference.repeated)]
    if any(_follows(reference.letters, section, _first_words(beginning[first:])) for first in range(max(headings, 1))):
        return None
    after = f"after the id {passage.anchor!r}" if passage.anchor else "before the first heading with an id"
    return f"{beginning[0][1][:_FIRST_LETTERS]!r} is not {after}"


def _until_heading(blocks: Sequence[tuple[bool, str]]) -> list[tuple[bool, str]]:
    return list(takewhile(lambda block: not block[0], blocks))


def _once(blocks: Sequence[tuple[bool, str]], repeated: frozenset[str]) -> list[tuple[bool, str]]:
    """Return the blocks without cells that Markdown repeats, the upper rows of a table's header among them.

    One of each stays where there is no other block.
    """
    texts = [(is_heading, _without_header_above(text, repeated)) for is_heading, text in blocks if text not in repeated]
    return texts or list(dict.fromkeys(blocks))


def _without_header_above(text: str, repeated: frozenset[str]) -> str:
    """Return a cell without what stands above it: headers of several rows are one in Markdown, `price - adult`."""
    above = max((each for each in repeated if each and text.startswith(each)), key=len, default="")
    return text.removeprefix(above)


def _beginning(markdown: str, passage: Passage, repeated: frozenset[str]) -> Iterator[tuple[bool, str]]:
    """Yield the blocks from the beginning of a passage on, as letters: the leading headings, and some after them."""
    skipped = _BEFORE_TEXT.match(markdown, passage.start, passage.end)
    begin = passage.start if skipped is None or skipped.end() == passage.end else skipped.end()
    # From its item, its table or its code on, so that the passage is read as a part of it.
    starts = _block_starts(markdown)
    first, last = starts[max(bisect_right(starts, begin) - 1, 0)], max(passage.end, begin + _ENOUGH)
    marked = f"{markdown[first:begin]}{_MARK}{markdown[begin:last]}"
    indent = len(marked) - len(marked.lstrip(" "))
    reached, missing = False, _FIRST_LETTERS
    for is_heading, text in _blocks(re.sub(rf"^ {{1,{indent}}}", "", marked, flags=re.MULTILINE) if indent else marked):
        if not reached and _MARK not in text:
            continue
        reached = True
        found = letters(text.rpartition(_MARK)[2])
        if found:
            yield is_heading, found
        missing -= 0 if is_heading or found in repeated else len(found)
        if missing <= 0:
            return


@lru_cache(maxsize=4)
def _block_starts(markdown: str) -> tuple[int, ...]:
    """Return where the outermost blocks of a document and the items of its lists begin, in characters, from 0 on."""
    lines = tuple(accumulate((len(line) + 1 for line in markdown.split("\n")), initial=0))
    tokens = (token for token in _markdown.parse(markdown) if token.level == 0 or token.type == "list_item_open")
    return tuple(sorted({0, *(lines[token.map[0]] for token in tokens if token.map)}))


def _first_words(blocks: Sequence[tuple[bool, str]]) -> list[str]:
    """Return the letters of the first block and of those up to the next heading, forty in all."""
    found: list[str] = []
    for number, (is_heading, text) in enumerate(blocks):
        missing = _FIRST_LETTERS - sum(map(len, found))
        if missing <= 0 or (number and is_heading):
            break
        found.append(text[:missing])
    return found


def _follows(text: str, section: tuple[int, int], blocks: Sequence[str]) -> bool:
    """Return whether blocks begin within a section, one after the other."""
    place, end = section
    for block in blocks:
        place = text.find(block, place, end - 1 + len(block))
        if place < 0:
            return False
        place += len(block)
    return True


def _blocks(markdown: str) -> Iterator[tuple[bool, str]]:
    """Yield whether a block is a heading, and its text; each line of code is a block."""
    is_heading = False
    for token in _markdown.parse(markdown):
        is_heading = token.type == "heading_open" or (is_heading and token.type != "heading_close")
        if token.type == "inline":
            yield is_heading, "".join(map(_text, token.children or ()))
        elif token.type in {"fence", "code_block"}:
            yield from ((False, line) for line in token.content.splitlines())


def _text(token: Token) -> str:
    if token.type in {"softbreak", "hardbreak"}:
        return "\n"
    return token.content
