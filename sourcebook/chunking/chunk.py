"""Passages of a document, what they leave out, the text that is embedded, and the hash of what decides them."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from sourcebook.chunking.sections import Heading
from sourcebook.chunking.tokenizer import TokenCounter
from sourcebook.config.passages import CONTEXT, ContextPart
from sourcebook.model.document import Block
from sourcebook.model.passage_part import PassagePart
from sourcebook.model.place import lines_of
from sourcebook.parsing.text.front_matter import read_front_matter

_SEPARATOR = " > "


class Prefixes:
    """The lines of titles above the passages of one document: `Title > H1 > H2`."""

    def __init__(
        self,
        title: str | None,
        tokenizer: TokenCounter,
        *,
        most_tokens: int,
        context: Sequence[ContextPart] = CONTEXT,
    ) -> None:
        """Limit prefixes to `most_tokens`, without special tokens, and to the parts that the context names."""
        self._title = " ".join(title.split()) if title and "title" in context else ""
        self._has_headings = "headings" in context
        self._tokenizer = tokenizer
        self._most_tokens = most_tokens
        self._known: dict[tuple[str, ...], tuple[str, int]] = {(): ("", 0)}

    def write(self, path: Sequence[Heading], *, start: int) -> tuple[str, int]:
        """Return the prefix of a passage that begins at `start`, and its tokens without special tokens.

        Headings within the passage are left out, as is a title equal to the outermost heading.
        """
        return self._fitted(self._titles(path, start=start))

    def tokens(self, path: Sequence[Heading]) -> int:
        """Return the tokens of the longest prefix under a path, without special tokens."""
        return self._fitted(self._titles(path, start=None))[1]

    def _titles(self, path: Sequence[Heading], *, start: int | None) -> tuple[str, ...]:
        path = path if self._has_headings else ()
        above = [heading.title for heading in path if heading.title and (start is None or heading.start < start)]
        repeats = bool(path) and path[0].title.casefold() == self._title.casefold()
        return tuple(above if repeats or not self._title else [self._title, *above])

    def _fitted(self, titles: tuple[str, ...]) -> tuple[str, int]:
        known = self._known.get(titles)
        if known is None:
            known = self._known[titles] = self._fit(titles)
        return known

    def _fit(self, titles: tuple[str, ...]) -> tuple[str, int]:
        """Return the prefix without the outer titles that do not fit; a too long innermost title is cut."""
        prefix = _SEPARATOR.join(titles)
        offsets = self._tokenizer.offsets([prefix])[0]
        if len(offsets) <= self._most_tokens:
            return prefix, len(offsets)
        if len(titles) > 1:
            return self._fitted(titles[1:])
        if self._most_tokens < 1:
            return "", 0
        return prefix[: offsets[self._most_tokens - 1][1]], self._most_tokens


_CLOSING_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_WHITE_SPACE = re.compile(r"\s+")
_THEMATIC_BREAK = re.compile(r"^[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Chunk:
    """A passage: `text == repeated context + markdown[start_char:end_char]`.

    The repeated context is the header of the passage's table or the lead-in of its list, copied with its line breaks
    from an earlier part of the document; it is empty for other passages.
    """

    ordinal: int
    """Position among the passages of the document, from 0."""
    text: str
    heading_path: tuple[str, ...]
    """Titles of the enclosing headings, outermost first."""
    anchor: str | None
    """Anchor of the innermost H1 to H3 in the heading path, or of the first heading within the passage; of a text file
    its lines, `L10-L42`."""
    page: int | None
    """Page, slide or sheet on which the passage begins, from 1."""
    start_char: int
    end_char: int
    token_count: int
    """Tokens of `embedding_text`, special tokens included."""
    embedding_text: str
    """The embedded text: its context, an empty line, the text of the passage."""
    start_seconds: float | None = None
    """Start in the recording in seconds, which is the end of the passage before; None for other documents."""
    end_seconds: float | None = None
    parts: tuple[PassagePart, ...] = ()
    """Parts with headings, pages or times of their own; empty where the whole passage has one place."""
    previous: str = ""
    """End of the text before the passage, where it is part of the context."""

    @cached_property
    def hash(self) -> bytes:
        """SHA-256 of text, heading path, anchor and embedded text before; independent of the position and the lines."""
        anchor = None if lines_of(self.anchor) else self.anchor
        identity = [self.text, self.heading_path, anchor, *([self.previous] if self.previous else [])]
        return sha256(json.dumps(identity).encode()).digest()

    @cached_property
    def embedding_hash(self) -> bytes:
        """SHA-256 of the embedded text."""
        return sha256(self.embedding_text.encode()).digest()


def uncovered_characters(markdown: str, blocks: Sequence[Block], spans: Iterable[tuple[int, int]]) -> int:
    """Count the characters of a document's content that are in no passage.

    The content is the Markdown from the first block on, without white space, closing fences and thematic breaks.

    Args:
        markdown: the text of the document.
        blocks: the blocks of the document; without any, the content begins after the front matter.
        spans: `(start_char, end_char)` of each passage, in any order; spans may overlap.
    """
    reached = blocks[0].start if blocks else read_front_matter(markdown).end
    missing = 0
    for start, end in [*sorted(spans), (len(markdown), len(markdown))]:
        if start > reached:
            missing += _content(markdown[reached:start])
        reached = max(reached, end)
    return missing


def is_thematic_break(text: str) -> bool:
    """Whether the lines of a text are nothing but thematic breaks, such as `---` and `* * *`, and blank lines."""
    return not _THEMATIC_BREAK.sub("", text).strip()


def _content(gap: str) -> int:
    if gap.isspace():
        return 0
    return len(_WHITE_SPACE.sub("", _THEMATIC_BREAK.sub("", _CLOSING_FENCE.sub("", gap))))
