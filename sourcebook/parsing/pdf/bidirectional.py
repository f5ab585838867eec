"""Reading order of the letters of a line with Hebrew or Arabic, from the order in which they are painted.

It undoes the Unicode bidirectional algorithm (UAX #9): Latin words and numbers run from left to right within a line
that runs from right to left, and the other way round.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

_OPENING, _CLOSING = "([{<«", ")]}>»"
_MIRROR = str.maketrans(_OPENING + _CLOSING, _CLOSING + _OPENING)
_PAIR = dict(zip(_CLOSING, _OPENING, strict=True))
_IN_NUMBER = re.compile(r"[.,:/+\-\u2212$%#\u00b0\u066a-\u066c\u00a0€£₪]")
"""Signs between two digits that belong to one number."""
_LEFT, _RIGHT, _DIGIT, _NEUTRAL = "L", "R", "N", " "


def runs_from_right(painted: str, page_from_right: bool) -> bool:
    """Tell whether a line runs from right to left.

    A line runs as the letters at both its ends do; where these differ, it runs as most of the page does.

    Args:
        painted: letters of the line from left to right.
        page_from_right: whether most letters of the page run from right to left.
    """
    strong = [kind for kind in map(_kind, painted) if kind in (_LEFT, _RIGHT)]
    if not strong:
        return page_from_right
    return strong[0] == _RIGHT if strong[0] == strong[-1] else page_from_right


def in_reading_order(painted: str, *, from_right: bool, mirrored: bool = False) -> str:
    """Return the letters of a line in the order in which they are read.

    Args:
        painted: letters of the line from left to right.
        from_right: whether the line runs from right to left.
        mirrored: whether brackets in text from right to left have the character of their shape, so that the bracket
            that opens is `)`.
    """
    if from_right:
        return _from_right(painted, mirrored)
    result, end = [], 0
    for start, stop in _right_runs(painted):
        result += [painted[end:start], _from_right(painted[start:stop], mirrored)]
        end = stop
    return "".join(result) + painted[end:]


def brackets_are_mirrored(lines: Sequence[tuple[str, bool]]) -> bool:
    """Tell whether brackets in text from right to left have the character of their shape.

    Args:
        lines: letters of each line of a page from left to right, and whether the line runs from right to left.
    """
    texts = [in_reading_order(painted, from_right=from_right) for painted, from_right in lines]
    swapped = [in_reading_order(painted, from_right=from_right, mirrored=True) for painted, from_right in lines]
    return _balance("\n".join(swapped)) > _balance("\n".join(texts))


def has_right_to_left(text: str) -> bool:
    """Tell whether a text has Hebrew or Arabic letters or Arabic digits."""
    return not text.isascii() and any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in text)


def _balance(text: str) -> int:
    """Return the number of brackets that are closed after they were opened, without those that are not."""
    opened: list[str] = []
    balance = 0
    for letter in text:
        if letter in _OPENING:
            opened.append(letter)
        elif letter in _CLOSING:
            if opened and opened[-1] == _PAIR[letter]:
                opened.pop()
                balance += 1
            else:
                balance -= 1
        elif letter == "\n":
            opened.clear()
    return balance


def _from_right(painted: str, mirrored: bool) -> str:
    blocks = list(_left_runs(painted))
    result: list[str] = []
    end = len(painted)
    for start, stop in [*reversed(blocks), (0, 0)]:
        between = painted[stop:end][::-1]
        result += [between.translate(_MIRROR) if mirrored else between, painted[start:stop]]
        end = start
    return "".join(result)


def _right_runs(painted: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of text from right to left within a line from left to right."""
    kinds = "".join(map(_kind, painted))
    for run in re.finditer(r"R(?:[RN ]*R)?", kinds):
        yield run.span()


def _left_runs(painted: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of Latin words and numbers within a line from right to left."""
    kinds = "".join(map(_kind, painted))
    place = 0
    while place < len(kinds):
        if kinds[place] not in "LN":
            place += 1
            continue
        end, latin = place, False
        while True:
            while end < len(kinds) and kinds[end] in "LN":
                latin |= kinds[end] == _LEFT
                end += 1
            after = end
            while after < len(kinds) and kinds[after] == _NEUTRAL:
                after += 1
            if after == len(kinds) or kinds[after] == _RIGHT:
                break
            if not _joins(painted, place, end, after, latin=latin or kinds[after] == _LEFT):
                break
            end = after
        end = _with_closing(painted, place, _with_number_sign(painted, kinds, place, end))
        yield _start_with_number_sign(painted, kinds, place), end
        place = end


def _joins(painted: str, start: int, end: int, after: int, *, latin: bool) -> bool:
    """Tell whether the text between two words or numbers belongs to their run."""
    between = painted[end:after]
    if not latin:
        return len(between) == 1 and _IN_NUMBER.fullmatch(between) is not None
    inside = 0
    for place in range(start, len(painted)):
        if place >= after and (inside == 0 or _kind(painted[place]) == _RIGHT):
            break
        inside += (painted[place] in _OPENING) - (painted[place] in _CLOSING)
        if inside < 0:
            return False
    return inside == 0


def _with_closing(painted: str, start: int, end: int) -> int:
    """Return the end of a run with the bracket that closes one within it."""
    inside = sum((letter in _OPENING) - (letter in _CLOSING) for letter in painted[start:end])
    while inside > 0 and painted[end : end + 1] in _PAIR:
        inside, end = inside - 1, end + 1
    return end


def _with_number_sign(painted: str, kinds: str, start: int, end: int) -> int:
    """Return the end of a run with the sign directly behind its last digit, such as a per cent sign.

    A hyphen belongs to it where the number goes on in the next line.
    """
    if end == len(painted) or kinds[end - 1] != _DIGIT:
        return end
    goes_on = start == 0 and painted[end] in "-\u2010" and painted[end + 1 : end + 2] in ("", " ")
    return end + 1 if goes_on or painted[end] in "%‰°$€£₪٪" else end


def _start_with_number_sign(painted: str, kinds: str, start: int) -> int:
    """Return the start of a run with the sign directly before its first digit, such as a currency's."""
    signed = start > 0 and painted[start - 1] in "$€£₪#" and kinds[start] == _DIGIT
    return start - 1 if signed else start


@lru_cache(maxsize=4096)
def _kind(letter: str) -> str:
    match unicodedata.bidirectional(letter):
        case "L":
            return _LEFT
        case "R" | "AL":
            return _RIGHT
        case "EN" | "AN":
            return _DIGIT
        case "NSM":  # a vowel mark, painted left of its letter
            return _RIGHT
        case _:
            return _NEUTRAL
