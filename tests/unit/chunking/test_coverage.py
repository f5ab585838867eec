"""What lies in no passage is counted, whatever the blocks say."""

import pytest

from sourcebook.chunking.chunk import uncovered_characters
from sourcebook.model.document import Block

TEXT = "front\n\n# Tides\n\nThe tide is high.\n\nThe gauge is lost.\n"
BLOCKS = (Block("heading", 7, 14, level=1, title="Tides"), Block("paragraph", 16, 33))


@pytest.mark.parametrize(
    ("spans", "missing"),
    [
        ([(7, 54)], 0),
        ([(7, 33)], len("Thegaugeislost.")),
        ([(35, 53), (7, 20)], len("tideishigh.")),
        ([(16, 33), (20, 30), (35, 53)], len("#Tides")),
        ([], len("#TidesThetideishigh.Thegaugeislost.")),
    ],
)
def test_characters_in_no_passage_are_counted(spans: list[tuple[int, int]], missing: int) -> None:
    """White space does not count, nor what stands before the first block; spans may overlap and come in any order."""
    assert uncovered_characters(TEXT, BLOCKS, spans) == missing


def test_text_without_blocks_is_content() -> None:
    """A parser that returns text and no blocks is found out; front matter alone is no content."""
    assert uncovered_characters("lost\n", (), []) == 4
    assert uncovered_characters("---\ntitle: only\n---\n", (), []) == 0
    assert uncovered_characters("", (), []) == 0


def test_the_line_that_closes_a_fence_is_no_content() -> None:
    """Code lies between the lines of its fence; a fence of the text itself counts."""
    text = "```python\nx = 1\n```\n"
    assert uncovered_characters(text, (Block("code", 10, 15),), [(10, 15)]) == 0
    assert uncovered_characters(text, (Block("code", 10, 15),), []) == len("x=1")


def test_a_thematic_break_is_no_content() -> None:
    """A rule between sections may be in no passage; what else is on its line counts."""
    text = "# Tides\n\n---\n\n* * *\n\n--- high\n"
    assert uncovered_characters(text, (Block("heading", 0, 7, level=1, title="Tides"),), [(0, 7)]) == len("---high")
