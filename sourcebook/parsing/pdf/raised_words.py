"""Small raised or lowered words, such as marks of footnotes, in the line that they touch."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, Protocol

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
_SMALLEST, _SMALLER = 0.4, 0.9
"""Heights of an exponent, a note mark or an index, in heights of the word before it."""
_CLOSE = 0.12
"""Largest gap between the two, in heights of the word before."""
_DESCENT = 0.2
"""Share of a word's height below its base line."""
_RAISED, _LOWERED = 0.2, 0.06
"""Smallest distance of their base lines, in heights of the word before."""
_SCRIPT = re.compile(r"[-+−–]?\d{1,3}(?:[,–-]\d{1,3})*|\d?[-+−–]|[*†‡§]{1,3}|st|nd|rd|th|er|re|e|o|a")
"""Exponents, charges, note marks and the ends of ordinal numbers; indices of variables stay as they are."""
_SIGNED = re.compile(r"[-+−–]\d+")
_CHARGE = re.compile(r"\d?[-+−–]")
_SLASHES = "/⁄"
_DIGITS = re.compile(r"\d{1,3}")
_POWER_OF = re.compile(r"(?:^|[^\w$€£¥])(?:10|\d|\d?[^\W\d_]|[cdknmµμ]?m|ft|yd|mi)$")
"""End of a text that has powers: ten, a digit, a variable, a unit of length."""
_ORDINAL = re.compile(r"\d(?:st|nd|rd|th|er|re|e|o|a)$")
_FORMULA = re.compile(r"(?:^|\W)(?:\d*(?:[A-Z][a-z]?\d*)+)$")
"""End of a text that may be the formula of a substance."""


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


class _Placed(Protocol):
    text: str
    size: float

    @property
    def left(self) -> float: ...
    @property
    def right(self) -> float: ...
    @property
    def bottom(self) -> float: ...
    @property
    def height(self) -> float: ...


def script(base: _Placed, word: _Placed) -> Literal["raised", "lowered"] | None:
    """Tell whether a word is raised or lowered against the word that it follows without a space."""
    if word.size > _SMALLER * base.size:  # nearly all
        return None
    height = base.height
    if not _SMALLEST * height < word.height < _SMALLER * height or abs(word.left - base.right) > _CLOSE * height:
        return None
    if _SCRIPT.fullmatch(word.text) is None or not (base.text in _SLASHES or any(map(str.isalnum, base.text))):
        return None
    if word.text in "-+−–" and _FORMULA.search(base.text) is None:
        return None
    up = base.bottom - _DESCENT * height - (word.bottom - _DESCENT * word.height)
    return "raised" if _RAISED * height < up < height else "lowered" if up < -_LOWERED * height else None


def with_scripts(words: Sequence[Line]) -> list[Line]:
    """Return the words of a page in the order of its content, powers and indices with what they are of.

    A note mark follows its word after a space; each has the height of the word that it is raised or lowered against.
    """
    result: list[Line] = []
    base: Line | None = None
    for index, word in enumerate(words):
        place = script(base, word) if base is not None else None
        if base is None or place is None:
            base = word
            result.append(word)
            continue
        halves = index + 1 < len(words) and words[index + 1].text in _SLASHES
        joint = " " if halves else _joint(base.text, word.text, place)
        base = result[-1] = replace(base, text=f"{base.text}{joint}{word.text}", right=max(base.right, word.right))
    return result


def _joint(text: str, word: str, place: Literal["raised", "lowered"]) -> str:
    if place == "lowered":
        return "" if _DIGITS.fullmatch(word) and (text in _SLASHES or _FORMULA.search(text)) else " "
    if _ORDINAL.search(text[-1:] + word):
        return ""
    if not word[-1:].isdigit():
        return "^" if _CHARGE.fullmatch(word) and _FORMULA.search(text) else " "
    is_power = _SIGNED.fullmatch(word) and text[-1:].isalnum()
    return "^" if is_power or (_DIGITS.fullmatch(word) and _POWER_OF.search(text)) else " "


def texts_with_scripts(words: Sequence[_Placed]) -> Iterator[str]:
    """Yield the texts of words as a reader has them that sees no heights: those that no space parts are one."""
    held = ""
    base: _Placed | None = None
    last: _Placed | None = None
    for word in words:
        if base is not None and last is not None and (script(base, word) or _goes_on(base, last, word)):
            held += word.text
        else:
            if held:
                yield held
            held, base = word.text, word
        last = word
    if held:
        yield held


def _goes_on(base: _Placed, last: _Placed, word: _Placed) -> bool:
    level = abs(word.bottom - base.bottom) < _LOWERED * base.height
    return level and last is not base and abs(word.left - last.right) < _LOWERED * base.height
