"""Context that a passage repeats from further up: the header of its table or the lead-in of its list."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sourcebook.chunking.cut_points import last_sentence
from sourcebook.chunking.tokenizer import TokenIndex
from sourcebook.model.document import Block

_WIDEST_HEADER = 3
"""Divisor of a passage's tokens: a table header longer than a third of them is not repeated in each passage."""
_LONGEST_LEAD_IN = 6
"""Divisor of a passage's tokens: a lead-in longer than a sixth of them does not stay with its list."""
_INTRODUCED = frozenset({"list", "table", "code"})
"""Kinds of blocks that keep the sentence before them."""
_DELIMITER_ROW_CHARACTERS = frozenset("|-: \t")


@dataclass(frozen=True, slots=True)
class RepeatedContext:
    """Text of the document that a passage repeats above its own: `markdown[start:end]`, its last newline included."""

    start: int
    end: int
    tokens: int


class RepeatedContexts:
    """The repeated context of any place in one document."""

    def __init__(self, text: str, blocks: Sequence[Block], index: TokenIndex, *, room: int) -> None:
        """Prepare the look-up.

        Args:
            text: the document's Markdown.
            blocks: its blocks, in order.
            index: its tokens.
            room: tokens of a passage without the special ones; headers and lead-ins are measured against it.
        """
        self._text = text
        self._blocks = blocks
        self._starts = [block.start for block in blocks]
        self._index = index
        self._room = room
        self._known: dict[int, RepeatedContext | None] = {}

    def at(self, position: int) -> RepeatedContext | None:
        """Return the context that a passage repeats when it begins at this character: a table header or a lead-in."""
        number = bisect_right(self._starts, position) - 1
        if number < 0 or self._blocks[number].kind not in {"table", "list"}:
            return None
        if number not in self._known:
            self._known[number] = self._find(number)
        repeated = self._known[number]
        block = self._blocks[number]
        return repeated if repeated and max(repeated.end, block.start + 1) <= position < block.end else None

    def tokens(self, position: int) -> int:
        """Return the number of tokens that a passage repeats when it begins at this character."""
        repeated = self.at(position)
        return repeated.tokens if repeated else 0

    def lead_in(self, before: Block, block: Block) -> int | None:
        """Return the start of the text that introduces a list, table or code block: the paragraph or its last sentence.

        None where no paragraph stands directly before, or where its last sentence is too long.
        """
        if before.kind != "paragraph" or block.kind not in _INTRODUCED:
            return None
        most = self._room // _LONGEST_LEAD_IN
        if self._index.size(before.start, before.end) <= most:
            return before.start
        if block.kind != "list" and self._text[before.end - 1] not in ":：":
            return None
        sentence = last_sentence(self._text, before.kind, before.start, before.end)
        return sentence if self._index.size(sentence, before.end) <= most else None

    def _find(self, number: int) -> RepeatedContext | None:
        block = self._blocks[number]
        if block.kind == "table":
            header = self._header(block)
            return self._measured(*header, most=self._room // _WIDEST_HEADER) if header else None
        begin = self.lead_in(self._blocks[number - 1], block) if number else None
        return self._measured(begin, block.start, most=self._room // _LONGEST_LEAD_IN) if begin is not None else None

    def _measured(self, start: int, end: int, *, most: int) -> RepeatedContext | None:
        """Return the context of a span; None where it has more than `most` tokens or does not end its line."""
        tokens = self._index.size(start, end)
        ends_line = self._text[end - 1] == "\n"
        return RepeatedContext(start, end, self._index.tokens(start, end)) if ends_line and tokens <= most else None

    def _header(self, block: Block) -> tuple[int, int] | None:
        """Return the span of a Markdown table's header row and delimiter row; a caption may stand above it."""
        before, start = -1, block.start
        furthest = min(block.end, self._index.reach(block.start, self._room))
        while (end := self._text.find("\n", start, furthest) + 1) > 0:
            if before >= 0 and _is_delimiter_row(self._text[start : end - 1]):
                return before, end
            before, start = (start if "|" in self._text[start:end] else -1), end
        return None


def _is_delimiter_row(line: str) -> bool:
    return "-" in line and "|" in line and _DELIMITER_ROW_CHARACTERS.issuperset(line)
