"""Points of plots, which files hold as letters of a symbol font, such as `l` of ZapfDingbats for a disc.

The fonts of LaTeX's pictures hold pieces of lines, circles and arrows as letters, too.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from sourcebook.parsing.pdf.words import Word

_FEWEST = 12
"""Points of a plot on a page; fewer may be the bullets of a list."""
_PIECES = re.compile(r"[/+](?:lcirclew?|linew?)10$", re.IGNORECASE)
"""Names of the fonts of LaTeX's pictures."""
_MOST_LEVEL = 0.05
"""Share of the points that are level with a word; bullets and signs in the cells of a table are."""
_LEVEL = 0.05
"""Largest distance between the middle of a point and that of a word on its line, in points."""


def without_plot_points(words: Sequence[Word]) -> tuple[list[Word], Counter[str]]:
    """Return the words of a page without points, and the number of points by their sign.

    Points are the words of fonts that show one sign alone, scattered beside the lines of the page, and those of fonts
    that hold pieces of pictures.
    """
    fonts: dict[str, list[Word]] = {}
    for word in words:
        fonts.setdefault(word.font, []).append(word)
    points = {font for font, shown in fonts.items() if len(shown) >= _FEWEST and _is_one_sign(shown)}
    pieces = set(filter(_PIECES.search, fonts))
    if not points and not pieces:
        return list(words), Counter()
    levels = sorted(word.middle for word in words if word.font not in points)
    scattered = pieces | {font for font in points if _are_scattered(fonts[font], levels)}
    points_by_sign = Counter[str]()
    for word in words:
        if word.font in scattered:
            points_by_sign.update([word.text] if word.font in pieces else word.text)
    return [word for word in words if word.font not in scattered], points_by_sign


def _is_one_sign(words: Sequence[Word]) -> bool:
    sign = words[0].text[0]
    return not sign.isdigit() and all(word.text == sign * len(word.text) for word in words)


def _are_scattered(points: Sequence[Word], levels: Sequence[float]) -> bool:
    return sum(_is_level(point, levels) for point in points) < _MOST_LEVEL * len(points)


def _is_level(point: Word, levels: Sequence[float]) -> bool:
    place = bisect_left(levels, point.middle - _LEVEL * point.size)
    return place < len(levels) and levels[place] <= point.middle + _LEVEL * point.size
