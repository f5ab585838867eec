"""The chunker: passages that follow the structure of a document and fit the embedding model."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from sourcebook.chunking.chunk import Chunk, Prefixes, is_thematic_break
from sourcebook.chunking.cut_points import best_cut, piece_end
from sourcebook.chunking.pack import Span, nearest_segment, pack, pack_speech, with_times
from sourcebook.chunking.parts import passage_parts
from sourcebook.chunking.repeated_context import RepeatedContexts
from sourcebook.chunking.sections import (
    Definitions,
    Group,
    Heading,
    Lines,
    common_path,
    groups,
    longest_names,
    sections,
)
from sourcebook.chunking.tokenizer import TokenCounter, TokenIndex
from sourcebook.config.collection import CONTEXT, ContextPart
from sourcebook.model.document import Block, ParsedDocument
from sourcebook.model.passage_part import embedding_text

_COUNTED_AT_ONCE = 256
"""Passages whose tokens are counted in one call of the tokenizer."""
_ROOM_OF_NAMES = 8
"""Divisor of a passage's tokens: an eighth is reserved for the names of the enclosing definitions."""
_ROOM_OF_PREVIOUS = 8
"""Divisor of a passage's tokens: an eighth is reserved for the end of the text before it, where that is embedded."""
_SPACES = frozenset(" \t\n\r")
"""Characters that every tokenizer treats as spaces; BERT's drops others, such as U+0085, and joins two words."""


def chunk_document(
    document: ParsedDocument,
    *,
    title: str | None,
    tokens: int,
    overlap: int,
    tokenizer: TokenCounter,
    context: Sequence[ContextPart] = CONTEXT,
) -> list[Chunk]:
    """Return the passages of a document in reading order; together they cover all blocks.

    A passage stays within its section; a section below a quarter of the budget joins the next one under the same
    heading. A heading shares a passage with content of its section. Later passages of a table or list repeat its header
    or lead-in. Passages of speech end at segment boundaries and never overlap.

    Args:
        document: the parsed document.
        title: the title of the document, written before the headings in each embedding text.
        tokens: maximum tokens of an embedding text, special tokens included; the limit of the model applies as well.
        overlap: tokens that a passage repeats of the passage before in its section, at most a quarter of `tokens`.
        tokenizer: the tokenizer of the embedding model.
        context: parts of the context in each embedding text; `previous` takes an eighth of its tokens.
    """
    if not document.blocks:
        return []
    return _Chunker(document, title, min(tokens, tokenizer.max_tokens), overlap, tokenizer, context).run()


@dataclass(frozen=True, slots=True)
class _Draft:
    """A passage whose tokens have not been counted."""

    group: Group
    start: int
    end: int
    own_start: int
    """Start of the passage without the overlap."""
    named: bool = True
    """Whether the names of the enclosing definitions are part of the prefix."""
    follows: bool = True
    """Whether the end of the text before is embedded, where the settings want it."""


class _Chunker:
    def __init__(
        self,
        document: ParsedDocument,
        title: str | None,
        limit: int,
        overlap: int,
        tokenizer: TokenCounter,
        context: Sequence[ContextPart],
    ) -> None:
        self._text = document.markdown
        self._blocks = document.blocks
        self._block_starts = [block.start for block in document.blocks]
        self._limit = limit
        self._room = max(1, limit - tokenizer.special_tokens)
        self._is_speech = next((one.kind for one in document.blocks if one.kind != "heading"), "") == "speech"
        self._overlap = 0 if self._is_speech else min(max(0, overlap), self._room // 4)
        self._tokenizer = tokenizer
        self._index = TokenIndex(document.markdown, tokenizer)
        self._repeated = RepeatedContexts(document.markdown, document.blocks, self._index, room=self._room)
        self._definitions = Definitions(document.blocks)
        self._lines = Lines(document.markdown, document.blocks)
        self._prefixes = Prefixes(title, tokenizer, most_tokens=self._room // 2, context=context)
        self._previous_tokens = self._room // _ROOM_OF_PREVIOUS if "previous" in context else 0

    def run(self) -> list[Chunk]:
        chunks: list[Chunk] = []
        waiting: list[_Draft] = []
        for draft in self._drafts():
            waiting.append(draft)
            if len(waiting) == _COUNTED_AT_ONCE:
                self._finish(waiting, chunks)
                waiting = []
        self._finish(waiting, chunks)
        return with_times(chunks, self._blocks) if self._is_speech else chunks

    def _drafts(self) -> Iterator[_Draft]:
        for group in groups(sections(self._blocks), self._index, budget=self._room):
            previous = -1
            for start, end in self._spans(group):
                begin = self._overlapping(start, previous) if previous >= 0 else start
                trimmed = self._trimmed(start, end)
                if trimmed is not None and begin < start:
                    trimmed = self._trimmed(begin, end)
                if trimmed is not None:
                    yield _Draft(group, *trimmed, own_start=max(start, trimmed[0]))
                    previous = trimmed[0]

    def _spans(self, group: Group) -> Iterator[Span]:
        blocks = [block for section in group for block in section.blocks]
        longest = max((section.path for section in group), key=len)
        above = self._prefixes.tokens(longest)
        named = self._prefixes.tokens((*longest, *longest_names(blocks)))
        names = max(0, min(named - above, self._room // _ROOM_OF_NAMES))
        room = self._room - self._previous_tokens
        budget = max(1, room - above - names - self._overlap)
        if self._is_speech:
            return pack_speech(self._text, blocks, self._index, budget=budget)
        # The first passage has no overlap, and its own headings are in its text already.
        _, outer = self._prefixes.write(longest, start=blocks[0].start)
        first = max(budget, room - outer - names)
        return pack(self._text, blocks, self._index, self._repeated, budget=budget, first=first)

    def _overlapping(self, start: int, previous: int) -> int:
        """Return the start of a passage with overlap: at a word outside of links, or at a line below a repeat."""
        if not self._overlap:
            return start
        begin = max(self._index.before(start, self._overlap), previous + 1)
        repeated = self._repeated.at(start)
        if repeated is not None:
            begin = max(begin, repeated.end)
        block = self._block_at(begin)
        at_line = self._repeated.at(begin) is not None
        while begin < start:
            if not (self._text[begin - 1] == "\n" if at_line else self._text[begin - 1].isspace()):
                begin += 1
            elif (end := piece_end(self._text, block.kind, max(block.start, previous), begin)) > begin:
                begin = end
            else:
                return begin
        return start

    def _trimmed(self, start: int, end: int) -> Span | None:
        """Return the span without surrounding blank lines; None where it is blank or a thematic break alone."""
        text = self._text
        first = start
        while first < end and text[first].isspace():
            first += 1
        while end > first and text[end - 1].isspace():
            end -= 1
        while first > start and text[first - 1] in " \t":  # the first line keeps its indent
            first -= 1
        if first >= end or text[first:end].isspace():
            return None
        can_be_break = text[end - 1] in "-*_" and self._block_at(end - 1).kind == "paragraph"
        return None if can_be_break and is_thematic_break(text[first:end]) else (first, end)

    def _finish(self, drafts: Sequence[_Draft], chunks: list[Chunk]) -> None:
        prefixes = [self._prefixes.write(self._path(draft), start=draft.start) for draft in drafts]
        tails = [self._previous(draft) for draft in drafts]
        texts = [
            embedding_text(prefix, self._written(draft), self._text[slice(*tail)])
            for draft, (prefix, _), tail in zip(drafts, prefixes, tails, strict=True)
        ]
        counts = [
            self._known_count(draft, tokens, tail)
            for draft, (_, tokens), tail in zip(drafts, prefixes, tails, strict=True)
        ]
        unknown = [position for position, count in enumerate(counts) if count is None]
        counted = iter(self._tokenizer.count([texts[position] for position in unknown]) if unknown else ())
        for draft, embedded, known, tail in zip(drafts, texts, counts, tails, strict=True):
            count = next(counted) if known is None else known
            behind = bool(chunks) and draft.start <= chunks[-1].start_char
            if draft.start < draft.own_start and (behind or count > self._limit):
                self._finish(list(self._without_overlap(draft)), chunks)
            elif count <= self._limit or draft.end - draft.start < 2:
                chunks.append(self._chunk(draft, embedded, count, self._text[slice(*tail)], ordinal=len(chunks)))
            elif tail[0] < tail[1]:
                self._finish([replace(draft, follows=False)], chunks)
            elif draft.named and self._definitions.around(draft.own_start, draft.end):
                self._finish([replace(draft, named=False)], chunks)
            else:  # a cut within a word or a longer prefix than estimated has added tokens
                self._finish(list(self._halves(draft)), chunks)

    def _path(self, draft: _Draft) -> tuple[Heading, ...]:
        """Return the enclosing headings and definitions of a passage, outermost first."""
        names = self._definitions.around(draft.own_start, draft.end) if draft.named else ()
        return (*common_path(_touched(draft)), *names)

    def _written(self, draft: _Draft) -> str:
        """Return the text of a passage with its repeated context."""
        repeated = self._repeated.at(draft.start)
        own = self._text[draft.start : draft.end]
        return self._text[repeated.start : repeated.end] + own if repeated else own

    def _previous(self, draft: _Draft) -> Span:
        """Return the end of the text before a passage, from a word on; none below repeated context."""
        content = self._blocks[0].start
        if not (self._previous_tokens and draft.follows) or self._repeated.at(draft.start) or draft.start <= content:
            return draft.start, draft.start
        begin, end = max(self._index.before(draft.start, self._previous_tokens), content), draft.start
        while begin < end and begin > content and not self._text[begin - 1].isspace():
            begin += 1
        while end > begin and self._text[end - 1].isspace():
            end -= 1
        return begin, end

    def _known_count(self, draft: _Draft, prefix_tokens: int, tail: Span) -> int | None:
        """Return the tokens of the embedding text where the index gives them exactly, else None."""
        if not self._tokenizer.splits_at_spaces:
            return None
        start, end, repeated = draft.start, draft.end, self._repeated.at(draft.start)
        places = (start, end, *tail, repeated.start) if repeated else (start, end, *tail)
        if not all(self._is_at_space(place) for place in places):
            return None
        above = (repeated.tokens if repeated else 0) + prefix_tokens + self._index.tokens(*tail)
        return self._index.tokens(start, end) + above + self._tokenizer.special_tokens

    def _is_at_space(self, place: int) -> bool:
        text = self._text
        return place in {0, len(text)} or text[place] in _SPACES or text[place - 1] in _SPACES

    def _without_overlap(self, draft: _Draft) -> Iterator[_Draft]:
        trimmed = self._trimmed(draft.own_start, draft.end)
        if trimmed is not None:
            yield _Draft(draft.group, *trimmed, own_start=trimmed[0])

    def _halves(self, draft: _Draft) -> Iterator[_Draft]:
        middle = draft.start + (draft.end - draft.start + 1) // 2
        cut = nearest_segment(self._block_starts, draft.start, draft.end, middle) if self._is_speech else None
        if cut is None:
            begin = self._behind_headings(draft)
            begin = draft.start if draft.end - begin < 2 else begin  # headings only
            middle = max(middle, begin + (draft.end - begin + 1) // 2)
            cut = best_cut(self._text, self._block_at(begin).kind, begin, middle, draft.end - 1)
        for start, end in ((draft.start, cut), (cut, draft.end)):
            trimmed = self._trimmed(start, end)
            if trimmed is not None:
                yield _Draft(draft.group, *trimmed, own_start=trimmed[0], named=draft.named)

    def _behind_headings(self, draft: _Draft) -> int:
        """Return the end of the headings at the beginning of a passage."""
        first = max(0, bisect_right(self._block_starts, draft.start) - 1)
        blocks = islice(self._blocks, first, None)
        headings = takewhile(lambda block: block.kind == "heading" and block.start < draft.end, blocks)
        return min(max((block.end for block in headings), default=draft.start), draft.end)

    def _chunk(self, draft: _Draft, embedded: str, count: int, previous: str, *, ordinal: int) -> Chunk:
        touched = _touched(draft)
        path = common_path(touched)
        names = self._definitions.around(draft.own_start, draft.end)
        with_content = next((section for section in touched if section.has_content), touched[0])
        text = self._written(draft)
        repeated = len(text) - (draft.end - draft.start)
        return Chunk(
            ordinal=ordinal,
            text=text,
            heading_path=tuple(heading.title for heading in (*path, *names) if heading.title),
            anchor=self._lines.anchor(draft.start, draft.end) or touched[0].anchor,
            page=self._block_at(max(draft.start, with_content.start)).page,
            start_char=draft.start,
            end_char=draft.end,
            token_count=count,
            embedding_text=embedded,
            parts=passage_parts(
                touched, draft.start, draft.end, repeated=repeated, definitions=self._definitions, lines=self._lines
            ),
            previous=previous,
        )

    def _block_at(self, position: int) -> Block:
        return self._blocks[max(0, bisect_right(self._block_starts, position) - 1)]


def _touched(draft: _Draft) -> Group:
    """Return the sections that a passage overlaps."""
    sections = draft.group
    first = bisect_right(sections, draft.start, key=lambda section: section.end)
    return sections[first : bisect_left(sections, draft.end, key=lambda section: section.start)]
