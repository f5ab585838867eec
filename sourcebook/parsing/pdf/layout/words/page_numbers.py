"""Numbers in a row of text that may be the number of its page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NUMBER = re.compile(r"(?<![\w.,])(?:\d{1,4}|[ivxlc]{1,7}|[IVXLC]{2,7})(?![\w,]|\.\d)")
_ALONE = re.compile(
    r"[-–—|\[( ]*(?:(?:page|seite|pagina|página|стр\.?|p\.)\s*)?(?:\d{1,4}|[ivxlcdm]{1,6})"
    r"(?:\s*(?:/|of|von|de|sur|из)\s*\d{1,4})?[-–—|\]). ]*",
    re.IGNORECASE,
)
_BARE = re.compile(r"\s*\w+\s*")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a row of text."""

    value: int
    digits: str
    """The number as it is written."""
    around: str
    """The row with `#` in place of the number."""
    at_edge: bool
    """Whether the number is at an end of the row."""


def numbers(text: str) -> Iterator[Number]:
    """Yield the Arabic and Roman numbers of a row."""
    for match in _NUMBER.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        value = int(match[0]) if match[0].isdigit() else roman_number(match[0].lower())
        at_edge = not any(map(str.isalnum, before)) or not any(map(str.isalnum, after))
        yield Number(value, match[0], f"{before}#{after}", at_edge)


def is_number(text: str) -> bool:
    """Tell whether a row is a page number alone, such as `17`, `- 17 -` or `Page 3 of 9`."""
    return _ALONE.fullmatch(text) is not None


def is_decorated(text: str) -> bool:
    """Tell whether a page number says so by its dashes or words."""
    return is_number(text) and _BARE.fullmatch(text) is None


def roman_number(text: str) -> int:
    """Return the value of a Roman number in lower case, up to `c`."""
    values = [_ROMAN[letter] for letter in text]
    return sum(-one if one < following else one for one, following in zip(values, [*values[1:], 0], strict=True))
