"""Rotation of pages whose text runs upwards or downwards, such as a wide table on a tall page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from sourcebook.model.document import Box
from sourcebook.parsing.pdf.layout.page_parts import Field, Remark, Rule
from sourcebook.parsing.pdf.words import Word

_MOST = 0.8
"""Share of a page's letters in one direction above which the page is rotated."""


Mark = TypeVar("Mark", Word, Field, Remark)


@dataclass(frozen=True, slots=True)
class UprightPage:
    """Words and rules of a page with mostly horizontal text; width and height after the rotation, in points."""

    words: Sequence[Word]
    rules: tuple[Rule, ...]
    width: float
    height: float
    fields: tuple[Field, ...] = ()
    remarks: tuple[Remark, ...] = ()


def upright(
    words: Sequence[Word],
    rules: Sequence[Rule],
    width: float,
    height: float,
    fields: Sequence[Field] = (),
    remarks: Sequence[Remark] = (),
) -> UprightPage:
    """Rotate the page by 90, 180 or 270 degrees where most of its letters have that angle."""
    letters = Counter[int]()
    for word in words:
        letters[word.angle] += len(word.text)
    angle, most = letters.most_common(1)[0] if letters else (0, 0)
    if angle == 0 or most < _MOST * letters.total():
        return UprightPage(words, tuple(rules), width, height, tuple(fields), tuple(remarks))

    def turned(left: float, top: float, right: float, bottom: float) -> Box:
        match angle:
            case 90:  # text runs upwards: the page is rotated clockwise
                return height - bottom, left, height - top, right
            case 180:
                return width - right, height - bottom, width - left, height - top
            case _:
                return top, width - right, bottom, width - left

    def moved(one: Mark) -> Mark:
        left, top, right, bottom = turned(one.left, one.top, one.right, one.bottom)
        return replace(one, left=left, top=top, right=right, bottom=bottom)

    new_words = [replace(moved(word), angle=(word.angle - angle) % 360) for word in words]
    new_rules = tuple(Rule(*turned(rule.left, rule.top, rule.right, rule.bottom)) for rule in rules)
    size = (width, height) if angle == 180 else (height, width)
    return UprightPage(new_words, new_rules, *size, tuple(map(moved, fields)), tuple(map(moved, remarks)))
