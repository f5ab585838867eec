"""A text as a reader sees it, for the rules: without invisible characters and escapes, with ASCII's digits and signs.

A value with a soft hyphen, with a narrow space between its groups, or with the backslashes of Markdown and of quoted
JSON is the same value to who reads it, and to a context for a language model, which leaves these characters out.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import chain
from typing import Final

_GONE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff"
)
_SPACES: Final = "\u2000-\u200a\u202f\u205f\u3000"
_DASHES: Final = "\u2010-\u2012\u2212\ufe58\ufe63\uff0d"
_ZEROS: Final = (0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50, 0xFF10)
"""Zeros of Arabic, Persian, Devanagari, Bengali, Thai and full-width digits; the other nine stand behind each."""
_DIGITS: Final = {zero + digit: str(digit) for zero in _ZEROS for digit in range(10)}
_WIDE: Final = {0xFEE0 + ord(sign): sign for sign in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz@.:+/=_"}
_OTHERS: Final = "".join(map(chr, chain(_DIGITS, _WIDE)))
_CHANGED: Final = re.compile(
    rf"(?P<gone>[{_GONE}]|\\(?=[!-/:-@\[-`{{-~]))|(?P<space>[{_SPACES}])|(?P<dash>[{_DASHES}])|[{_OTHERS}]"
)


@dataclass(frozen=True, slots=True)
class Readable:
    """A text to be searched, and where its characters stand in the original."""

    text: str
    _places: tuple[int, ...] = ()
    """Places in the text before which something was left out, ascending."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the text stands in the original, with what was left out within it."""
        return self._place(start), self._place(end - 1) + 1

    def _place(self, place: int) -> int:
        return place + bisect_right(self._places, place)


def readable(text: str) -> Readable:
    """Return a text as a reader sees it; the text itself where nothing in it is to be changed."""
    first = _CHANGED.search(text)
    if first is None:
        return Readable(text)
    pieces, places, last, length = [], [], 0, 0
    for found in _CHANGED.finditer(text, first.start()):
        length += found.start() - last
        shown = _shown(found)
        pieces += [text[last : found.start()], shown]
        length += len(shown)
        if not shown:
            places.append(length)
        last = found.end()
    return Readable("".join([*pieces, text[last:]]), tuple(places))


def _shown(found: re.Match[str]) -> str:
    if found["gone"] is not None:
        return ""
    if found["space"] is not None:
        return " "
    if found["dash"] is not None:
        return "-"
    code = ord(found[0])
    return _DIGITS.get(code) or _WIDE[code]
