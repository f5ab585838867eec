"""Fonts whose table of letters is missing or damaged, so that text becomes signs: `"#$!%&'%$()!` for `The process`.

Subsets of fonts often number their letters from 33 on. Without a table that says which letters these are, readers take
the numbers for ASCII: what comes first in the text becomes punctuation.
"""

import string
from collections import Counter
from collections.abc import Sequence
from typing import Final

from sourcebook.parsing.pdf.words import Word

_SIGNS: Final = str.maketrans("", "", string.punctuation)
_FEWEST: Final = 120
"""Characters of a font on a page below which their shares say nothing."""
_MOST_SIGNS: Final = 0.5
"""Share of ASCII signs above which a font's characters may be no text; in programs and formulas it is a third."""
_MOST_SMALL: Final = 0.03
"""Share of small letters up to which they are none: ASCII has these behind 63 other characters."""
_FEWEST_KINDS: Final = 12
"""Different signs of such a font at least: rows of dots and lines have few."""
_LARGEST_SHARE: Final = 0.5
"""Share of the most frequent sign up to which the signs are letters; fills of tables of contents have one sign."""


def without_meaningless(words: Sequence[Word]) -> tuple[Sequence[Word], bool]:
    """Return the words without those of fonts that show signs in place of letters, and whether there are such."""
    texts: dict[str, list[str]] = {}
    for word in words:
        texts.setdefault(word.font, []).append(word.text)
    meaningless = {font for font, held in texts.items() if _is_meaningless("".join(held))}
    if not meaningless:
        return words, False
    return [word for word in words if word.font not in meaningless], True


def _is_meaningless(text: str) -> bool:
    signs = len(text) - len(text.translate(_SIGNS))
    if len(text) < _FEWEST or signs <= _MOST_SIGNS * len(text):
        return False
    if sum(map(str.islower, text)) > _MOST_SMALL * len(text):
        return False
    kinds = Counter(character for character in text if character in string.punctuation)
    return len(kinds) >= _FEWEST_KINDS and kinds.most_common(1)[0][1] <= _LARGEST_SHARE * signs
