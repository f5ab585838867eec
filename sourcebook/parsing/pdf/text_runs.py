"""Runs of text: words side by side without a wide gap."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sourcebook.parsing.pdf.bidirectional import (
    brackets_are_mirrored,
    has_right_to_left,
    in_reading_order,
    runs_from_right,
)
from sourcebook.parsing.pdf.layout.lines.rows import direction, in_order, joined, side_by_side
from sourcebook.parsing.pdf.layout.page_parts import Line, Rule
from sourcebook.parsing.pdf.painted_letters import Letter, painted_text
from sourcebook.parsing.pdf.raised_words import with_raised_words, with_scripts
from sourcebook.parsing.pdf.words import UNKNOWN, Word

BULLET = "•"
_WIDEST_SPACE = 0.6
"""Widest space within a run, in font sizes."""
_EDGE = 0.05
"""Distance by which a word may reach over a drawn line beside it, in font sizes."""
_WIDEST_MONOSPACED = 2.6
"""Widest space within a monospaced run, in widths of a letter: two spaces follow a sentence."""
_REACH = 1.5
"""Largest distance between words of different height on one line, in heights of the taller word."""
_INITIAL_LARGER = 1.7
"""Smallest size of a dropped initial, in font sizes of the text beside it."""
_MOST_INITIALS = 40
"""Large letters of a page above which it is a chart or a table."""
_FARTHEST_INITIAL = 1.0
"""Largest distance from an initial to its word, in font sizes of the text."""


def runs(words: Sequence[Word], rules: Sequence[Rule], letters: Sequence[Letter] = ()) -> list[Line]:
    """Join words to runs; a wide gap or a vertical rule between words ends a run.

    Args:
        words: words of the page.
        rules: drawn lines of the page.
        letters: letters of a page with Hebrew or Arabic from left to right.
    """
    upright = [rule for rule in rules if rule.height > rule.width]
    found: list[Line] = []
    for angle in sorted({word.angle for word in words}):
        lines = [_line(word, place) for place, word in enumerate(words) if word.angle == angle]
        if angle:
            lines = [_turned(line, angle) for line in lines]
        rows = with_raised_words(side_by_side(lines if letters else with_scripts(lines), reach=_REACH))
        parts = [part for row in rows for part in _parted(row, upright if angle == 0 else ())]
        texts = right_to_left_texts(parts, letters) if angle == 0 else {}
        found += [_turned_back(_run(part, texts.get(place)), angle) for place, part in enumerate(parts)]
    return _with_initials(found)


def _line(word: Word, place: int) -> Line:
    return Line(
        word.text,
        word.left,
        word.right,
        word.top,
        word.bottom,
        word.size,
        word.bold,
        word.italic,
        word.monospaced,
        word.angle in (90, 270),
        place,
    )


def _turned(line: Line, angle: int) -> Line:
    """Return a rotated line in the coordinates of horizontal text."""
    match angle:
        case 90:
            return replace(line, left=-line.bottom, right=-line.top, top=line.left, bottom=line.right)
        case 180:
            return replace(line, left=-line.right, right=-line.left, top=-line.bottom, bottom=-line.top)
        case 270:
            return replace(line, left=line.top, right=line.bottom, top=-line.right, bottom=-line.left)
        case _:
            return line


def _turned_back(line: Line, angle: int) -> Line:
    return _turned(line, (360 - angle) % 360)


def _parted(row: list[Line], walls: Sequence[Rule]) -> Iterator[list[Line]]:
    """Yield the words of each run from left to right."""
    row.sort(key=lambda word: word.left)
    part: list[Line] = []
    reached = 0.0
    walls = [wall for wall in walls if wall.top < row[0].bottom and wall.bottom > row[0].top] if walls else ()
    for word in row:
        if part:
            widest, slack = _widest_space(part[-1], word), _EDGE * word.size
            walled = any(reached - slack <= wall.left and wall.right <= word.left + slack for wall in walls)
            if walled or word.left - reached > widest:
                yield part
                part = []
        part.append(word)
        reached = max(reached, word.right) if len(part) > 1 else word.right
    if part:
        yield part


def _widest_space(before: Line, word: Line) -> float:
    """Return the widest space between two words of one run, in points."""
    widest = _WIDEST_SPACE * max(before.size, word.size)
    if not (before.monospaced and word.monospaced):
        return widest
    letter = (before.width + word.width) / max(1, len(before.text) + len(word.text))
    return max(widest, _WIDEST_MONOSPACED * letter)


def _run(words: list[Line], text: str | None) -> Line:
    """Return the words as one run, with the text of a run that has Hebrew or Arabic words."""
    if text is not None:
        return replace(joined(words), text=text)
    if UNKNOWN in [word.text for word in words]:
        # Before other words, an unknown glyph is the bullet of a symbol font; elsewhere it is left out.
        first = replace(words[0], text=words[0].text.replace(UNKNOWN, BULLET))
        words = [first, *(word for word in words[1:] if word.text != UNKNOWN)]
    return joined(in_order(_glued(words)))


def _glued(words: list[Line]) -> list[Line]:
    """Join the parts of a word in which the font changes."""
    result: list[Line] = []
    for word in words:
        before = result[-1] if result else None
        if before and word.left - before.right < _touching(before, word) and _alike(before, word):
            result[-1] = replace(joined([before, word]), text=before.text + word.text)
        else:
            result.append(word)
    return result


def _touching(before: Line, word: Line) -> float:
    """Return the gap below which two words are parts of one; spaces of condensed letters are as narrow as these."""
    return min(0.08 * word.size, 0.3 * max(before.letter_width, word.letter_width))


def _alike(before: Line, word: Line) -> bool:
    level = abs(word.bottom - before.bottom) < 0.2 * word.size
    similar = level and 0.75 * before.size < word.size < before.size / 0.75
    return similar and (before.text[-1:].isascii() or word.text[:1].isascii())


def _with_initials(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with dropped initials joined to the words they begin.

    The lines beside an initial then begin at its left edge, too.
    """
    initials = [line for line in lines if len(line.text) == 1 and line.text.isupper() and not line.turned]
    if not 0 < len(initials) <= _MOST_INITIALS:
        return list(lines)
    changed: dict[int, Line | None] = {}
    for initial in initials:
        beside = sorted((line for line in lines if _beside_initial(initial, line)), key=lambda line: line.top)
        if len(beside) < 2 or id(beside[0]) in changed or not beside[0].text[0].isalpha():
            continue
        first = beside[0]
        space = "" if first.text[0].islower() or first.left - initial.right < 0.3 * first.size else " "
        changed[id(initial)] = None
        changed[id(first)] = replace(first, text=f"{initial.text}{space}{first.text}", left=initial.left)
        for line in beside[1:]:
            changed[id(line)] = replace(line, left=initial.left)
    return [kept for line in lines if (kept := changed.get(id(line), line)) is not None]


def _beside_initial(initial: Line, line: Line) -> bool:
    """Tell whether a smaller line begins directly right of the initial and within its height."""
    if line.turned or initial.size < _INITIAL_LARGER * line.size:
        return False
    near = -0.3 * line.size < line.left - initial.right < _FARTHEST_INITIAL * line.size
    return near and initial.top - 0.3 * line.size < line.middle < initial.bottom


def right_to_left_texts(runs: Sequence[Sequence[Line]], letters: Sequence[Letter]) -> Mapping[int, str]:
    """Return the texts of the runs with Hebrew or Arabic words, by their place among the runs.

    Args:
        runs: words of each run from left to right.
        letters: letters of the page from left to right, if it has Hebrew or Arabic.
    """
    if not letters:
        return {}
    page_from_right = sum(direction(word.text) for run in runs for word in run) < 0
    lines: dict[int, tuple[str, bool]] = {}
    for place, run in enumerate(runs):
        if any(has_right_to_left(word.text) for word in run):
            text = painted_text(letters, run)
            lines[place] = (text, runs_from_right(text, page_from_right))
    mirrored = brackets_are_mirrored(list(lines.values()))
    return {
        place: in_reading_order(text, from_right=from_right, mirrored=mirrored)
        for place, (text, from_right) in lines.items()
    }
