"""Text of runs that have Hebrew or Arabic words, in reading order."""

from collections.abc import Mapping, Sequence

from sourcebook.parsing.pdf.bidirectional import (
    brackets_are_mirrored,
    has_right_to_left,
    in_reading_order,
    runs_from_right,
)
from sourcebook.parsing.pdf.layout.lines.rows import direction
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.painted_letters import Letter, painted_text


def right_to_left_texts(runs: Sequence[Sequence[Line]], letters: Sequence[Letter]) -> Mapping[int, str]:
    """Return the texts of the runs with Hebrew or Arabic words, by their place among the runs.

    Args:
        runs: Words of each run from left to right.
        letters: Letters of the page from left to right, if it has Hebrew or Arabic.
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
