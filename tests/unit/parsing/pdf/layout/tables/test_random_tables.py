"""Rows of any shape become rows and tables that hold all of their words."""

from collections import Counter
from random import Random

import pytest

from sourcebook.parsing.pdf.layout.elements import Row, Table
from sourcebook.parsing.pdf.layout.lines.rows import rows
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.layout.tables.aligned_tables import with_tables


def lines(random: Random) -> list[Line]:
    """Return lines of two to eight columns, with holes, wide headers and shifted cells."""
    number = random.randint(2, 8)
    lefts = sorted(random.sample(range(60, 520, random.choice([5, 20, 40])), number))
    found: list[Line] = []
    top = 100
    for _ in range(random.randint(3, 12)):
        for column in sorted(random.sample(range(number), random.choice([1, 2, number, number, number]))):
            over_next = 2 * (lefts[min(column + 1, number - 1)] - lefts[column]) + 8
            width = random.choice([8, 12, 20, 35, 60, over_next])
            left = lefts[column] + random.choice([0, 0, 0, 3, 10, -4, 25])
            text = random.choice(["a", "12", "1,200", "Total", "2023", "Some words", "x" * 30, "2.1"])
            bold = random.random() < 0.2
            found.append(Line(f"{text}{len(found)}", left, left + width, top, top + 10, 10, bold, order=len(found)))
        top += random.choice([11, 12, 12, 14, 18])
    return found


@pytest.mark.parametrize("first", range(0, 2000, 500))
def test_no_word_is_lost_or_doubled(first: int) -> None:
    for seed in range(first, first + 500):
        random = Random(seed)
        page = lines(random)
        levels = sorted(random.sample(range(95, 200), random.randint(0, 3)))

        found = with_tables(rows(page), levels)

        texts = [text for one in found for text in _texts(one)]
        assert Counter(" ".join(texts).split()) == Counter(" ".join(line.text for line in page).split()), seed


def _texts(one: Row | Table) -> list[str]:
    return [run.text for run in one.runs] if isinstance(one, Row) else [cell.text for cell in one.cells]
