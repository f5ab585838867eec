"""Underscores that TeX draws as lines between the parts of a name, such as `ray_trace`, for fonts that have none."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.words import Word

_MOST_POINTS = 5
"""Most corners of a line or a thin box."""
_SHORTEST, _LONGEST = 0.2, 0.6
"""Length of an underscore, in font sizes."""
_THICKEST = 0.1
"""Largest thickness, in font sizes."""
_NEAR = 0.15
"""Largest distance from the words on both sides, in font sizes."""
_HIGHEST, _LOWEST = 0.64, 1.1
"""Place of the line below the top of the words, in their heights; a dash is higher."""

_Line = tuple[float, float, float, float]
"""Left, right, top and bottom."""


def with_drawn_underscores(words: Sequence[Word], page: DecodedPage) -> Sequence[Word]:
    """Return the words of a page, those joined that a short line at their base parts."""
    lines = list(_short_lines(page))
    if not lines:
        return words
    by_left: dict[int, list[int]] = defaultdict(list)
    by_right: dict[int, list[int]] = defaultdict(list)
    for place, word in enumerate(words):
        if word.angle == 0:
            by_left[round(word.left)].append(place)
            by_right[round(word.right)].append(place)
    following: dict[int, int] = {}
    for line in lines:
        first = next((one for one in _around(by_right, line[0]) if _is_at(words[one], words[one].right, line, 0)), None)
        second = next((one for one in _around(by_left, line[1]) if _is_at(words[one], words[one].left, line, 1)), None)
        if first is not None and second is not None and _are_parts(words[first], words[second]):
            following[first] = second
    joined = set(following.values())
    return [_chain(words, place, following) for place in range(len(words)) if place not in joined] if joined else words


def _short_lines(page: DecodedPage) -> Iterator[_Line]:
    for points in page.shapes:
        if 2 <= len(points) <= _MOST_POINTS:
            xs, ys = [x for x, _ in points], [y for _, y in points]
            line = min(xs), max(xs), min(ys), max(ys)
            if line[1] - line[0] > 4 * (line[3] - line[2]):
                yield line


def _around(places: dict[int, list[int]], edge: float) -> Iterator[int]:
    near = round(edge)
    for one in (near, near - 1, near + 1, near - 2, near + 2):
        yield from places.get(one, ())


def _is_at(word: Word, edge: float, line: _Line, side: int) -> bool:
    """Tell whether a line begins or ends at the edge of a word, at its base."""
    left, right, top, bottom = line
    fits = _SHORTEST * word.size <= right - left <= _LONGEST * word.size and bottom - top <= _THICKEST * word.size
    at_base = _HIGHEST * word.height < top - word.top < _LOWEST * word.height
    return fits and at_base and abs(line[side] - edge) <= _NEAR * word.size


def _are_parts(first: Word, second: Word) -> bool:
    level = abs(first.bottom - second.bottom) < 0.3 * first.size and abs(first.size - second.size) < 0.3 * first.size
    return level and first.text[-1:].isalnum() and second.text[:1].isalnum()


def _chain(words: Sequence[Word], place: int, following: dict[int, int]) -> Word:
    word = words[place]
    while (place := following.get(place, -1)) >= 0:
        part = words[place]
        word = replace(
            word,
            text=f"{word.text}_{part.text}",
            right=part.right,
            top=min(word.top, part.top),
            bottom=max(word.bottom, part.bottom),
        )
    return word
