"""Words of fonts that the decoder does not know, as a second reader has them.

Where a font's table is missing, the decoder has no letters, or takes the font's codes for Latin ones, as those of Greek
in TeX. A reader that has letters of another script has them from the names of the glyphs.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from sourcebook.parsing.pdf.layout.measures import shared_height
from sourcebook.parsing.pdf.presentation_forms import as_letters
from sourcebook.parsing.pdf.words import Word

_Reader = Callable[[], Sequence[Word]]

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
_FEWEST_UNKNOWN: Final = 3
_LEAST_UNKNOWN: Final = 0.5
"""Words without letters from which a font is unknown: their number, and their share of its words."""
_MOST_UNMAPPED: Final = 0.2
"""Share of a font's words up to which the second reader may not know their letters, either."""
_FEWEST_KINDS: Final = 3
"""Different letters and digits of a font that is more than a bullet."""
_MOST_SHARED: Final = 0.6
"""Share of a word's box above which a word of the second reader covers it."""
_TOO_HIGH: Final = 1.5
"""Height of a word's box, in heights of the second reader's, above which it is wrong."""


def with_other_scripts(words: Sequence[Word], second: Mapping[str, int], read: _Reader) -> Sequence[Word]:
    """Return the words of a page, those of fonts in another script as the second reader has them.

    Args:
        words: words of the page.
        second: words of the second reader, each with its count.
        read: returns the words of the second reader with their places; those that it does not know are unmapped.
    """
    if not _has_other_script(words, second):
        return words
    fonts, known = Counter(word.font for word in words), Counter(word.font for word in words if word.text in second)
    doubtful = {font for font, count in fonts.items() if known[font] < _MOST_KNOWN * count}
    return _replaced(words, doubtful, read, _is_of_other_script)


def with_known_fonts(words: Sequence[Word], read: _Reader) -> Sequence[Word]:
    """Return the words of a page, those of unknown fonts and single ones that lack letters as another reader has them.

    Args:
        words: words of the page.
        read: returns the words of the other reader with their places; those that it does not know are unmapped.
    """
    unmapped = Counter(word.font for word in words if word.unmapped)
    if not unmapped:
        return words
    fonts = Counter(word.font for word in words)
    unknown = {font for font, count in unmapped.items() if count >= max(_FEWEST_UNKNOWN, _LEAST_UNKNOWN * fonts[font])}
    return _replaced(words, unknown, read, _has_letters)


def _replaced(
    words: Sequence[Word], doubtful: AbstractSet[str], read: _Reader, is_known: Callable[[Sequence[Word]], bool]
) -> Sequence[Word]:
    places = frozenset(
        place for place, word in enumerate(words) if (word.unmapped or word.font in doubtful) and not word.angle
    )
    if not places:
        return words
    found = _matched(words, places, [word for word in read() if not word.angle])
    shown: dict[str, list[Word]] = {}
    for place, parts in found.items():
        shown.setdefault(words[place].font, []).extend(parts)
    taken = {font for font, parts in shown.items() if font in doubtful and is_known(parts)}
    result: list[Word] = []
    for place, word in enumerate(words):
        if place not in found or not (word.font in taken or _fills(found[place], word)):
            result.append(word)
            continue
        result += [_placed(part, word) for part in found[place]]
    return result


def _has_other_script(words: Sequence[Word], second: Mapping[str, int]) -> bool:
    """Tell whether the second reader has words of a script of which the first has fewer letters; Latin is none."""
    other = sum(count * len(_OTHER.findall(text)) for text, count in second.items() if not text.isascii())
    if other < _FEWEST or not any(_WORD.search(text) for text in second if not text.isascii()):
        return False
    return other > _MORE * sum(len(_OTHER.findall(as_letters(word.text))) for word in words if not word.text.isascii())


def _has_letters(parts: Sequence[Word]) -> bool:
    """Tell whether the second reader knows a font, and has more of its letters than the one that is its bullet."""
    if sum(part.unmapped for part in parts) > _MOST_UNMAPPED * len(parts):
        return False
    return len({letter for part in parts for letter in part.text if letter.isalnum()}) >= _FEWEST_KINDS


def _is_of_other_script(parts: Sequence[Word]) -> bool:
    text = " ".join(part.text for part in parts)
    return _WORD.search(text) is not None and len(_OTHER.findall(text)) >= _LEAST_OTHER * sum(map(str.isalpha, text))


def _fills(parts: Sequence[Word], word: Word) -> bool:
    """Tell whether the second reader has the letters of a word that has some, and the ones that it lacks."""
    own, shown = Counter(word.text.replace(" ", "")), Counter("".join(part.text for part in parts))
    return any(map(str.isalnum, own)) and own < shown and not any(part.unmapped for part in parts)


def _matched(words: Sequence[Word], doubtful: frozenset[int], read: Sequence[Word]) -> dict[int, list[Word]]:
    """Return the words of the second reader by the doubtful word of the first one that they cover most.

    A word that covers several of the first reader's is in one of these, and the others are empty.
    """
    level = sorted((place for place, word in enumerate(words) if not word.angle), key=lambda place: words[place].top)
    tops = [words[place].top for place in level]
    tallest = max((words[place].height for place in level), default=0.0)
    found: dict[int, list[Word]] = {}
    in_vain: set[int] = set()
    for part in read:
        first, last = bisect_left(tops, part.top - tallest), bisect_right(tops, part.bottom)
        covered = [place for place in level[first:last] if _shared(words[place], part) > 0]
        if not covered:
            continue
        best = max(covered, key=lambda place: _likeness(words[place], part))
        within = [place for place in covered if _shared(words[place], part) > _MOST_SHARED * words[place].area]
        if best not in doubtful:
            continue
        if not doubtful.issuperset(within):
            in_vain.update((best, *within))  # the part holds words that are known
        found.setdefault(best, []).append(part)
        for place in doubtful.intersection(within):
            found.setdefault(place, [])
    return {place: sorted(parts, key=lambda part: part.left) for place, parts in found.items() if place not in in_vain}


def _shared(word: Word, other: Word) -> float:
    """Return the area that two words share, in square points."""
    width = min(word.right, other.right) - max(word.left, other.left)
    return max(0.0, width) * max(0.0, shared_height(word, other))


def _likeness(word: Word, other: Word) -> float:
    """Return the share of the area of both words that they share."""
    shared = _shared(word, other)
    return shared / max(word.area + other.area - shared, 1e-6)


def _placed(part: Word, word: Word) -> Word:
    """Return a part of a word in the word's own type; boxes of fonts without letters may be far too high."""
    box = part if word.height > _TOO_HIGH * part.height else word
    return replace(
        word,
        text=part.text,
        left=part.left,
        right=part.right,
        top=box.top,
        bottom=box.bottom,
        size=box.size,
        unmapped=part.unmapped,
    )
