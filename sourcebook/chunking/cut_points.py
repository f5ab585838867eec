"""Cut points of a passage that is too long: items, rows, lines, sentences or words."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sourcebook.model.document import BlockKind

_WITHOUT_MARKUP: frozenset[BlockKind] = frozenset({"code", "data", "speech"})
"""Kinds of blocks whose brackets and backticks are text."""
_SIGN = re.compile(r"[\[<`]|\]\(")

_NEWLINE = r"\n(?![ \t]*(?:\n|[-*+>][ \t]|\d{1,9}[.)][ \t]|\|))"
"""A newline within a paragraph, an item or a row; a piece ends with them."""
_ADDRESS = (
    r"\]\([ \t]*+(?:<[^<>\n]*+>|[^\s()<]*+(?>(?:\([^\s()]*+\)[^\s()]*+)*))"
    rf"""(?>(?:(?>(?:[ \t]|{_NEWLINE})+)(?:"(?>(?:[^"\\\n]|\\.|{_NEWLINE})*)"|'(?>(?:[^'\\\n]|\\.|{_NEWLINE})*)'))?)"""
    r"[ \t]*+\)"
)
_CODE = r"`[^`\n]*+`"
_TEXT = rf"[^\[\]\\`\n]|\\.|{_CODE}|{_NEWLINE}"
_PIECE = re.compile(
    rf"""\\.
    |(?P<ticks>`++)(?>(?:[^`\n]|{_NEWLINE}|(?!(?P=ticks)(?!`))`++)*)(?P=ticks)(?!`)
    |(?P<autolink><[A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^<>\s]*+>)
    |(?P<link>!?\[(?>(?:{_TEXT}|!?\[(?>(?:{_TEXT})*)(?:{_ADDRESS}|\]))*)(?P<to>{_ADDRESS}))
    |(?P<address>{_ADDRESS})""".replace("\n    ", "")
)
"""An escaped character, inline code, an autolink, a link or image, or the address of a link whose text began before."""
_FENCE = 3
"""Backticks that begin code of several lines within an item or a quotation, which is cut between lines."""
_FARTHEST = 8192
"""Characters behind a span in which a piece must end; servers take no longer addresses either."""


class Piece(NamedTuple):
    """A span that stays whole where it fits into a passage."""

    start: int
    end: int
    address: int
    """Start of a link's address, which is cut only where the link has no words before it; `end` of inline code."""
    is_whole: bool = True
    """Whether it begins at `start`, unlike the link of which `start` is inside the text."""


def inline_pieces(text: str, kind: BlockKind, start: int, end: int) -> Sequence[Piece]:
    """Return the pieces that begin in `text[start:end]`, in order; the last one may end behind it.

    Args:
        text: the Markdown of the document.
        kind: kind of the block that the span belongs to.
        start: a position outside of pieces, or within the text of a link.
        end: the end of the span.
    """
    if kind in _WITHOUT_MARKUP or _SIGN.search(text, start, end) is None:
        return ()
    pieces = []
    for match in _PIECE.finditer(text, start, min(len(text), end + _FARTHEST)):
        if match.start() >= end:
            break
        if match["link"] is not None:
            pieces.append(Piece(match.start(), match.end(), match.start("to")))
        elif match["address"] is not None:
            pieces.append(Piece(match.start(), match.end(), match.start(), is_whole=False))
        elif match["autolink"] is not None:
            pieces.append(Piece(match.start(), match.end(), match.start()))
        elif match["ticks"] is not None and not (len(match["ticks"]) >= _FENCE and "\n" in match[0]):
            pieces.append(Piece(match.start(), match.end(), match.end()))
    return pieces


_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_LIST_ITEM = re.compile(r"\n(?=(?:[-*+]|\d{1,9}[.)])[ \t])")
_NESTED_ITEM = re.compile(r"\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t])")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"""[.!?…।॥؟۔։።។။]["'”’»)\]*_]*\s+|[。！？]["'”’」』）]*\s*|\n[ \t]*\n""")
_WORD = re.compile(r"\s+")

_PROSE = (_SENTENCE, _LINE, _WORD)
_PLACES: dict[BlockKind, tuple[re.Pattern[str], ...]] = {
    "list": (_LIST_ITEM, _NESTED_ITEM, _SENTENCE, _LINE, _WORD),
    "table": (_LINE, _WORD),
    "code": (_BLANK_LINE, _LINE, _WORD),
    "data": (_LINE, _WORD),
    "quote": _PROSE,
    "paragraph": _PROSE,
    "heading": _PROSE,
    "speech": _PROSE,
}
_FULL_ENOUGH = 3
"""Divisor of the room: a cut that fills less than a third of it gives way to the next finer kind of cut."""


def best_cut(text: str, kind: BlockKind, start: int, limit: int, most: int | None = None) -> int:
    """Return the last cut point in `(start, limit]`.

    It is between items, rows, lines, sentences or words, and outside of links and inline code. One that reaches beyond
    `limit` moves the cut to its end or its beginning. Where it alone is longer than a passage, the cut is between words
    of its text, and in its address only where it has none; without any place to cut, it is `limit`.

    Args:
        text: the Markdown of the document.
        kind: the kind of the block.
        start: the start of the text that is cut.
        limit: the end of the passage.
        most: the largest result, for a piece that fits into a passage but reaches beyond `limit`; `limit` by default.
    """
    full_enough = start + (limit - start) // _FULL_ENOUGH
    pieces = inline_pieces(text, kind, start, limit)
    cut = _coarsest(text, kind, full_enough, limit, lambda cut: cut > start and _parted(pieces, cut) is None)
    if cut is not None:
        return cut
    piece = _parted(pieces, limit)
    if piece is not None:
        if limit < piece.end <= (most or limit):
            return piece.end
        if piece.start > full_enough and piece.is_whole:
            return piece.start
    if kind != "code":
        cut = _last(_WORD, text, start + 1, full_enough, lambda cut: _parted(pieces, cut) is None)
        if cut is not None:
            return cut
    if piece is None:
        return limit
    if piece.start > start and piece.is_whole:
        return piece.start
    return _coarsest(text, kind, start + 1, min(limit, piece.address), lambda cut: cut > start) or limit


def _coarsest(text: str, kind: BlockKind, start: int, limit: int, fits: Callable[[int], bool]) -> int | None:
    """Return the last cut that fits at the coarsest places where there is one."""
    cuts = (_last(place, text, start, limit, fits) for place in _PLACES[kind])
    return next((cut for cut in cuts if cut is not None), None)


def piece_end(text: str, kind: BlockKind, start: int, cut: int) -> int:
    """Return the end of the link, autolink or inline code in `text[start:]` that a cut is inside of, else the cut."""
    piece = _parted(inline_pieces(text, kind, start, cut), cut)
    return cut if piece is None else piece.end


def _parted(pieces: Sequence[Piece], cut: int) -> Piece | None:
    """Return the piece that a cut is inside of."""
    position = bisect_left(pieces, cut, key=lambda piece: piece.start) - 1
    return pieces[position] if position >= 0 and cut < pieces[position].end else None


def _last(place: re.Pattern[str], text: str, start: int, limit: int, fits: Callable[[int], bool]) -> int | None:
    """Return the end of the last place in `text[start:limit]` that fits."""
    last = None
    for match in place.finditer(text, start, limit):
        if fits(match.end()):
            last = match.end()
    return last


def last_sentence(text: str, kind: BlockKind, start: int, end: int) -> int:
    """Return the start of the last sentence of `text[start:end]`; no sentence begins inside a link or inline code."""
    pieces = inline_pieces(text, kind, start, end)
    return _last(_SENTENCE, text, start, end, lambda cut: cut < end and _parted(pieces, cut) is None) or start
