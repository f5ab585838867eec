"""Small raised or lowered words, such as marks of footnotes, in the line that they touch."""

from collections.abc import Sequence

from sourcebook.parsing.pdf.layout.measures import shared_height
from sourcebook.parsing.pdf.layout.page_parts import Line

_LEAST_SMALLER = 1.6
"""Height of a line's word in heights of a raised one; less small ones are in their line already."""
_MOST_TALLER = 1.3
"""Height of a line's word in font sizes above which it is a sign over several lines, such as that of a sum."""
_LEAST_SHARED = 0.5
"""Share of a raised word's height that is beside the word that it touches."""
_LONGEST = 4
"""Most letters of a raised word, such as the mark of a footnote; text beside a very large letter has more."""
_GAP = 0.3
"""Largest gap between them, in font sizes of the line."""


def with_raised_words(parts: list[list[Line]]) -> list[list[Line]]:
    """Return the words of each line, from the top, those of lines of small words with the line that they touch."""
    result: list[list[Line]] = []
    for index, part in enumerate(parts):
        if result and _touches(part, result[-1]):
            result[-1] = [*result[-1], *part]
        elif index + 1 < len(parts) and _touches(part, parts[index + 1]):
            parts[index + 1] = [*parts[index + 1], *part]
        else:
            result.append(part)
    return result


def _touches(small: Sequence[Line], line: Sequence[Line]) -> bool:
    letters = sum(len(word.text) for word in small)
    if any(len(word.text) > _LONGEST for word in small) or letters >= sum(len(word.text) for word in line):
        return False
    return all(any(_is_beside(word, other) for other in line) for word in small)


def _is_beside(word: Line, other: Line) -> bool:
    if word.height * _LEAST_SMALLER > other.height:
        return False
    if len(other.text) == 1 or other.height > _MOST_TALLER * other.size:
        return False
    near = _GAP * other.size
    return (
        shared_height(word, other) > _LEAST_SHARED * word.height
        and word.left < other.right + near
        and other.left < word.right + near
    )
