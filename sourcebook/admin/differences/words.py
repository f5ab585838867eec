"""Differences between two texts word by word, and the numbers that changed."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final

from sourcebook.contract.differences import ChangedNumber, Piece, PieceKind

_UNSPACED: Final = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]"
"""Letters of scripts that put no spaces between words: each is compared by itself."""
_TOKEN: Final = re.compile(
    r"(?:[€$£¥]\s?)?\d+(?:[.,:/'’-]\d+)*(?:\s?[%€$£¥°])?\s*"  # 30, 2024-05-03, 1.250,00 €, 5 %
    rf"|{_UNSPACED}\s*|(?:(?!{_UNSPACED})\w)+\s*|[^\w\s]\s*|\s+"
)
_DIGIT: Final = re.compile(r"\d")
_MOST: Final = 4_000
"""Words from which the frequent ones are no anchors of the comparison, which else takes the square of the time."""


def compared_words(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[ChangedNumber, ...]]:
    """Return two texts in pieces that both have or one of them, and the numbers that changed."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    keys = [[word.strip() for word in words] for words in (old, new)]
    matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=max(len(old), len(new)) > _MOST)
    pieces: list[Piece] = []
    numbers: list[ChangedNumber] = []
    for kind, start, end, begin, stop in matcher.get_opcodes():
        if kind == "equal":
            _add(pieces, "same", new[begin:stop])
            continue
        _add(pieces, "removed", old[start:end])
        _add(pieces, "added", new[begin:stop])
        gone, come = (
            [word for word in words if _DIGIT.search(word)] for words in (keys[0][start:end], keys[1][begin:stop])
        )
        numbers += [ChangedNumber(one, other) for one, other in zip_longest(gone, come, fillvalue="") if one != other]
    return tuple(pieces), tuple(numbers)


def numbers_of(text: str) -> Iterator[str]:
    """Yield the numbers of a text."""
    return (word.strip() for word in _TOKEN.findall(text) if _DIGIT.search(word))


def _add(pieces: list[Piece], kind: PieceKind, words: Sequence[str]) -> None:
    if words:
        pieces.append(Piece(kind, "".join(words)))
