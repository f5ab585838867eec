"""Drawn frames with text inside, around which other text flows; lengths in points."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

from sourcebook.model.document import Box
from sourcebook.parsing.pdf.layout.lines.line_numbers import is_line_number
from sourcebook.parsing.pdf.layout.measures import NEAR
from sourcebook.parsing.pdf.layout.page_parts import Line, Rule

_MOST_SIDES = 8
"""Vertical lines of one height above which they belong to a table [first]."""
_MOST_FRAMES = 60
"""Frames of a page above which they are a table or a drawing [first]."""
_LEAST_HEIGHT = 20.0
"""Smallest height of a frame, in points [first]."""
_FEWEST_LINES = 2
"""Fewest lines inside a frame, and fewest lines beside it [first]."""


def lines_in_frames(lines: Sequence[Line], frames: Sequence[Box]) -> list[list[Line]]:
    """Return the lines in each frame that has other lines beside it, in the order of the frames."""
    found: list[list[Line]] = []
    taken: set[int] = set()
    for frame in frames:
        inside = [line for line in lines if id(line) not in taken and _within(frame, line)]
        if len(inside) < _FEWEST_LINES:
            continue
        members = set(map(id, inside))
        outside = [line for line in lines if id(line) not in members]
        if any(_overlaps(frame, line) for line in outside):
            continue
        beside = sum(frame[1] < line.middle < frame[3] for line in outside if not is_line_number(line))
        if beside >= _FEWEST_LINES:
            found.append(inside)
            taken |= members
    return found


def drawn_frames(rules: Sequence[Rule]) -> list[Box]:
    """Return the rectangles of four drawn lines from the top, or none where they are a table or a drawing."""
    sides: dict[tuple[int, int], list[Rule]] = defaultdict(list)
    level: dict[int, list[Rule]] = defaultdict(list)
    for rule in rules:
        if rule.height >= max(_LEAST_HEIGHT, rule.width):
            sides[round(rule.top / NEAR), round(rule.bottom / NEAR)].append(rule)
        elif rule.width > rule.height:
            level[round(rule.middle / NEAR)].append(rule)
    found: set[Box] = set()
    for uprights in sides.values():
        if not 2 <= len(uprights) <= _MOST_SIDES:
            continue
        for first, second in combinations(sorted(uprights, key=lambda rule: rule.left), 2):
            frame = (first.left, first.top, second.right, first.bottom)
            if all(_closed(frame, level, edge) for edge in (first.top, first.bottom)):
                found.add(frame)
        if len(found) > _MOST_FRAMES:
            return []
    return sorted(found, key=lambda frame: (frame[1], frame[0], -frame[2]))


def _closed(frame: Box, level: dict[int, list[Rule]], edge: float) -> bool:
    place = round(edge / NEAR)
    return any(
        abs(rule.left - frame[0]) < NEAR and abs(rule.right - frame[2]) < NEAR
        for near in (place - 1, place, place + 1)
        for rule in level.get(near, ())
    )


def _within(frame: Box, line: Line) -> bool:
    return frame[0] - 1 <= line.left and line.right <= frame[2] + 1 and frame[1] < line.middle < frame[3]


def _overlaps(frame: Box, line: Line) -> bool:
    return line.left < frame[2] - 1 and line.right > frame[0] + 1 and frame[1] < line.middle < frame[3]
