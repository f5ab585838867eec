"""Inline pieces of Markdown that a cut must not part: links with their addresses, autolinks, inline code."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from sourcebook.model.document import BlockKind

_WITHOUT_MARKUP: frozenset[BlockKind] = frozenset({"code", "data", "speech"})
"""Kinds of blocks whose brackets and backticks are text."""
_SIGN = re.compile(r"[\[<`]|\]\(")

_NEWLINE = r"\n(?![ \t]*(?:\n|[-*+>][ \t]|\d{1,9}[.)][ \t]|\|))"
"""A newline within a paragraph, an item or a row; a piece ends with them."""
_ADDRESS = (
    r"\]\([ \t]*+(?:<[^<>\n]*+>|[^\s()<]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"
    rf"""(?:(?:[ \t]|{_NEWLINE})++(?:"(?:[^"\\\n]|\\.|{_NEWLINE})*+"|'(?:[^'\\\n]|\\.|{_NEWLINE})*+'))?+[ \t]*+\)"""
)
_CODE = r"`(?:[^`\n])*+`"
_TEXT = rf"[^\[\]\\`\n]|\\.|{_CODE}|{_NEWLINE}"
_PIECE = re.compile(
    rf"""\\.
    |(?P<ticks>`++)(?:[^`\n]|{_NEWLINE}|(?!(?P=ticks)(?!`))`++)*+(?P=ticks)(?!`)
    |(?P<autolink><[A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^<>\s]*+>)
    |(?P<link>!?\[(?:{_TEXT}|!?\[(?:{_TEXT})*+(?:{_ADDRESS}|\]))*+(?P<to>{_ADDRESS}))
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
