"""Turn a page whose text runs upwards or downwards, as a wide table on a tall page does."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sourcebook.parsing.pdf.layout.page_parts import Rule
from sourcebook.parsing.pdf.words import Word

_MOST = 0.8
"""Share of a page's letters that run in one direction when it is the page that is turned."""

_Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class UprightPage:
    """A page's words and rules, most of its text running across it; width and height after turning."""

    words: list[Word]
    rules: tuple[Rule, ...]
    width: float
    height: float


def upright(words: list[Word], rules: Sequence[Rule], width: float, height: float) -> UprightPage:
    """Turn the page by 90, 180 or 270 degrees where most of its letters stand so."""
    letters = Counter[int]()
    for word in words:
        letters[word.angle] += len(word.text)
    angle, most = letters.most_common(1)[0] if letters else (0, 0)
    if angle == 0 or most < _MOST * letters.total():
        return UprightPage(words, tuple(rules), width, height)

    def turned(left: float, top: float, right: float, bottom: float) -> _Box:
        match angle:
            case 90:  # runs upwards: the page is turned clockwise
                return height - bottom, left, height - top, right
            case 180:
                return width - right, height - bottom, width - left, height - top
            case _:
                return top, width - right, bottom, width - left

    new_words = []
    for word in words:
        left, top, right, bottom = turned(word.left, word.top, word.right, word.bottom)
        new_words.append(
            replace(word, left=left, top=top, right=right, bottom=bottom, angle=(word.angle - angle) % 360)
        )
    new_rules = tuple(Rule(*turned(rule.left, rule.top, rule.right, rule.bottom)) for rule in rules)
    size = (width, height) if angle == 180 else (height, width)
    return UprightPage(new_words, new_rules, *size)
