"""What a passage must not be read without: a table's header and a list's lead-in, repeated where they are cut off."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sourcebook.chunking.cut import last_sentence
from sourcebook.chunking.token_index import TokenIndex
from sourcebook.model.document import Block

_WIDEST_HEADER = 3
"""A header above a third of the room is not repeated: every row would pay for it."""
_LONGEST_LEAD_IN = 6
"""Of the text before a list no more than a sixth of the room stays with it."""
_INTRODUCED = frozenset({"list", "table", "code"})
_OF_A_DELIMITER_ROW = frozenset("|-: \t")


@dataclass(frozen=True, slots=True)
class Lead:
    """Text of the document that a passage repeats above its own: `markdown[start:end]`, its last newline included."""

    start: int
    end: int
    tokens: int


class Leads:
    """Finds what leads to any place in a document."""

    def __init__(self, text: str, blocks: Sequence[Block], index: TokenIndex, *, room: int) -> None:
        """Measure leads against `room`, the tokens of a passage without the special ones."""
        self._text = text
        self._blocks = blocks
        self._starts = [block.start for block in blocks]
        self._index = index
        self._room = room
        self._known: dict[int, Lead | None] = {}

    def at(self, position: int) -> Lead | None:
        """Return what a passage that begins at a position repeats: the header of its table, or its list's lead-in."""
        number = bisect_right(self._starts, position) - 1
        if number < 0 or self._blocks[number].kind not in {"table", "list"}:
            return None
        if number not in self._known:
            self._known[number] = self._find(number)
        lead = self._known[number]
        block = self._blocks[number]
        return lead if lead and max(lead.end, block.start + 1) <= position < block.end else None

    def tokens(self, position: int) -> int:
        """Return the tokens of what a passage that begins at a position repeats."""
        lead = self.at(position)
        return lead.tokens if lead else 0

    def lead_in(self, before: Block, block: Block) -> int | None:
        """Return where the text begins that introduces a list, table or code block: the paragraph or its last sentence.

        None where no paragraph stands directly before, or even its last sentence is too long.
        """
        if before.kind != "paragraph" or block.kind not in _INTRODUCED:
            return None
        most = self._room // _LONGEST_LEAD_IN
        if self._index.size(before.start, before.end) <= most:
            return before.start
        if block.kind != "list" and self._text[before.end - 1] not in ":：":
            return None
        sentence = last_sentence(self._text, before.start, before.end)
        return sentence if self._index.size(sentence, before.end) <= most else None

    def _find(self, number: int) -> Lead | None:
        block = self._blocks[number]
        if block.kind == "table":
            header = self._header(block)
            return self._lead(*header, most=self._room // _WIDEST_HEADER) if header else None
        begin = self.lead_in(self._blocks[number - 1], block) if number else None
        return self._lead(begin, block.start, most=self._room // _LONGEST_LEAD_IN) if begin is not None else None

    def _lead(self, start: int, end: int, *, most: int) -> Lead | None:
        tokens = self._index.size(start, end)
        ends_line = self._text[end - 1] == "\n"
        return Lead(start, end, self._index.tokens(start, end)) if ends_line and tokens <= most else None

    def _header(self, block: Block) -> tuple[int, int] | None:
        """Return the span of a Markdown table's header row and the row of dashes below; a caption may stand above."""
        before, start = -1, block.start
        furthest = min(block.end, self._index.reach(block.start, self._room))
        while (end := self._text.find("\n", start, furthest) + 1) > 0:
            if before >= 0 and _is_delimiter_row(self._text[start : end - 1]):
                return before, end
            before, start = (start if "|" in self._text[start:end] else -1), end
        return None


def _is_delimiter_row(line: str) -> bool:
    return "-" in line and "|" in line and _OF_A_DELIMITER_ROW.issuperset(line)
