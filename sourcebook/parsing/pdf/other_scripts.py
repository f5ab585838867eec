"""Words of fonts that the decoder takes for Latin, and that show letters of another script, as those of Greek in TeX.

Where a font's table is missing, its codes are Latin letters by chance. A reader that has letters of another script has
them from the names of the glyphs.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from sourcebook.parsing.pdf.presentation_forms import as_letters
from sourcebook.parsing.pdf.words import Word

_OTHER: Final = re.compile("[\u0370-\u1cff\u1f00-\u1fff\u2c00-\u2dff\u3040-\ud7ff\uf900-\ufaff]")
"""Letters that are not Latin, and signs among them."""
_WORD: Final = re.compile(f"{_OTHER.pattern}{{3}}")
"""Three such letters; fewer may be a formula."""
_FEWEST: Final = 9
"""Letters of another script below which a page's fonts are not compared."""
_MORE: Final = 1.1
"""Such letters of the second reading, per letter of the first."""
_MOST_KNOWN: Final = 0.5
"""Share of a font's words that both readers have at which it is read rightly."""
_LEAST_OTHER: Final = 0.5
"""Share of a font's letters in the second reading that are of another script."""
_SLACK: Final = 1.0
"""Distance in points by which a word may be outside of the other reader's."""


def with_other_scripts(
    words: Sequence[Word], second: Mapping[str, int], read: Callable[[], Sequence[Word]]
) -> Sequence[Word]:
    """Return the words of a page, those of fonts in another script as the second reader has them.

    Args:
        words: Words of the page.
        second: Words of the second reader, each with its count.
        read: Returns the words of the second reader with their places.
    """
    other = sum(count * len(_OTHER.findall(text)) for text, count in second.items() if not text.isascii())
    if other < _FEWEST or not any(_WORD.search(text) for text in second if not text.isascii()):
        return words
    if other <= _MORE * sum(len(_OTHER.findall(as_letters(word.text))) for word in words if not word.text.isascii()):
        return words
    all_words, known = Counter(word.font for word in words), Counter(word.font for word in words if word.text in second)
    doubtful = {font for font, count in all_words.items() if known[font] < _MOST_KNOWN * count}
    if not doubtful:
        return words
    places = {place: word for place, word in enumerate(words) if word.font in doubtful and not word.angle}
    found = _matched(places, [word for word in read() if not word.angle])
    shown: dict[str, str] = {}
    for place, parts in found.items():
        shown[words[place].font] = shown.get(words[place].font, "") + "".join(part.text for part in parts)
    taken = {
        font
        for font, text in shown.items()
        if len(_OTHER.findall(text)) >= _LEAST_OTHER * sum(map(str.isalpha, text)) and _WORD.search(text)
    }
    result: list[Word] = []
    for place, word in enumerate(words):
        if word.font not in taken or place not in found:
            result.append(word)
            continue
        result += [
            replace(word, text=part.text, left=part.left, right=part.right, unmapped=part.unmapped)
            for part in found[place]
        ]
    return result


def _matched(places: Mapping[int, Word], read: Sequence[Word]) -> dict[int, list[Word]]:
    """Return the words of the second reader in each word of the first one.

    A word that covers several of the first reader's is in the first of these, and the others are empty.
    """
    found: dict[int, list[Word]] = {}
    for word in read:
        middle = (word.top + word.bottom) / 2
        covered = [
            place
            for place, one in places.items()
            if one.top - _SLACK < middle < one.bottom + _SLACK and min(word.right, one.right) > max(word.left, one.left)
        ]
        if not covered:
            continue
        x = (word.left + word.right) / 2
        inside = [place for place in covered if places[place].left <= x <= places[place].right] or covered
        if len(inside) < len(covered) and not all(_is_within(places[place], word) for place in covered):
            covered = inside
        found.setdefault(covered[0], []).append(word)
        for place in covered[1:]:
            found.setdefault(place, [])
    return {place: sorted(parts, key=lambda part: part.left) for place, parts in found.items()}


def _is_within(word: Word, other: Word) -> bool:
    return other.left - _SLACK <= word.left and word.right <= other.right + _SLACK
