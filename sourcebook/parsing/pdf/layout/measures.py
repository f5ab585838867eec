"""Measures of what is on a page, each defined once; lengths in points from the page's upper left corner."""

from collections.abc import Sequence

from sourcebook.model.document import Box

NEAR = 3.0
"""Distance in points up to which edges are one, and ends of drawn lines touch [first]."""
FLUSH = 0.3
"""Distance of left edges up to which lines are flush, in font sizes [library]."""
ONE_SIZE = 1.06
"""Ratio of font sizes up to which they are one [first]."""
WIDER_SPACE = 1.3
"""Distance between the tops of two lines from which they are apart, in usual distances [first]."""
LEAST_SHARED = 0.5
"""Height that two of one line share, in heights of the lower one [first]."""


class Span:
    """Object with a left and a right edge: a column, a gap between columns."""

    __slots__ = ()
    left: float
    right: float

    @property
    def width(self) -> float:
        """Distance from the left edge to the right one."""
        return self.right - self.left

    @property
    def centre(self) -> float:
        """Middle of the width."""
        return (self.left + self.right) / 2


class Rectangle(Span):
    """Object with four edges: a line, a word, a table."""

    __slots__ = ()
    top: float
    bottom: float

    @property
    def height(self) -> float:
        """Distance from the upper edge to the lower one."""
        return self.bottom - self.top

    @property
    def area(self) -> float:
        """Width times height."""
        return self.width * self.height

    @property
    def middle(self) -> float:
        """Middle of the height."""
        return (self.top + self.bottom) / 2


def around(parts: Sequence[Rectangle]) -> Box:
    """Return the edges of the smallest rectangle around others."""
    return (
        min([part.left for part in parts]),
        min([part.top for part in parts]),
        max([part.right for part in parts]),
        max([part.bottom for part in parts]),
    )


def shared_height(one: Rectangle, other: Rectangle) -> float:
    """Return the height at which both are; it is negative where one is above the other."""
    return min(one.bottom, other.bottom) - max(one.top, other.top)


def are_beside(one: Rectangle, other: Rectangle) -> bool:
    """Tell whether both are in one line."""
    return shared_height(one, other) > LEAST_SHARED * min(one.height, other.height)


def letter_widths(text: str) -> int:
    """Return the width of a text in Latin letters: ideographs are as wide as two."""
    return len(text) if text.isascii() else sum(2 if letter >= "\u1100" else 1 for letter in text)
