"""Shingles of a text: short runs of its words or letters as numbers, by which texts are compared."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final
from zlib import crc32

_WORD: Final = re.compile(r"\w+")
_DIGIT: Final = re.compile(r"\d")
_SHORT: Final = 0xFFFFF
"""Largest number of a word: numbers of three words stay below 2^30, with which Python counts fastest."""
_LETTERS_A_SHINGLE: Final = 5
_LONG_WORD: Final = 15
"""Letters of the words of a text, on average, from which it is one without spaces between words."""


def words_of(text: str) -> list[str]:
    """Return the words of a text without regard to case."""
    words: list[str] = _WORD.findall(text.casefold())
    return words


def numbers_of(words: Iterable[str]) -> Iterator[str]:
    """Yield the words that have digits."""
    return (word for word in words if not word.isalpha() and _DIGIT.search(word))


def shingles_of(words: Sequence[str]) -> frozenset[int]:
    """Return a number for each run of three words, or of five letters in scripts without spaces."""
    text = " ".join(words)
    if len(text) > _LONG_WORD * len(words):
        starts = range(len(text) - _LETTERS_A_SHINGLE + 1)
        return frozenset(map(_code, [text[at : at + _LETTERS_A_SHINGLE] for at in starts]))
    codes = list(map(_short_code, words))
    runs = zip(codes, codes[1:], codes[2:], strict=False)
    return frozenset([(first * 31 + second) * 31 + third for first, second, third in runs])


@lru_cache(maxsize=65_536)
def _short_code(word: str) -> int:
    return _code(word) & _SHORT


def _code(word: str) -> int:
    """Return the number of a word or a run of letters, the same in every process."""
    return crc32(word.encode("utf-8", "replace"))
