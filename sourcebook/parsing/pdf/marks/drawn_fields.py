"""Drawings of pages for their fields: frames, marks of ticks, and underscores to write on."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from sourcebook.parsing.pdf.decoded_pages import Point
from sourcebook.parsing.pdf.layout.page_parts import Field
from sourcebook.parsing.pdf.words import Word

_BAND = 24
"""Height of the bands in which rectangles are looked up, in points."""
_BLANK = re.compile(r"(?:_{2,}|\.{4,}|…{2,})$")


def without_frames(shapes: Sequence[Sequence[Point]], fields: Sequence[Field]) -> Sequence[Sequence[Point]]:
    """Return the drawn shapes without those of fields: frames, and marks of check boxes and radio buttons."""
    if not fields:
        return shapes
    ordered = sorted(fields, key=lambda one: one.left)
    widest = max(one.width for one in ordered)

    def is_of_field(points: Sequence[Point]) -> bool:
        left, right = min(x for x, _ in points), max(x for x, _ in points)
        top, bottom = min(y for _, y in points), max(y for _, y in points)
        near = ordered[bisect_left(ordered, left - widest - 1, key=lambda one: one.left) :]
        return any(
            right <= one.right + 1 and one.top - 1 <= top and bottom <= one.bottom + 1
            for one in takewhile(lambda one: one.left - 1 <= left, near)
        )

    return [points for points in shapes if not points or not is_of_field(points)]


def without_blanks(words: Sequence[Word], fields: Sequence[Field]) -> Sequence[Word]:
    """Return the words without the underscores and dots that are printed where a field is."""
    if not fields:
        return words
    bands: dict[int, list[Field]] = defaultdict(list)
    for one in fields:
        for band in {int(one.top // _BAND), int(one.bottom // _BAND)}:
            bands[band].append(one)
    kept: list[Word] = []
    for word in words:
        blank = _BLANK.search(word.text)
        near = bands.get(int(word.middle // _BAND), ()) if blank else ()
        if blank is None or not any(one.left < word.right and word.left < one.right for one in near):
            kept.append(word)
        elif blank.start() > 0:
            share = blank.start() / len(word.text)
            kept.append(replace(word, text=word.text[: blank.start()], right=word.left + share * word.width))
    return kept
