"""Reasoning that a model writes before its answer, in whatever pieces it comes."""

import pytest

from sourcebook.answering.checked_text import WithoutReasoning


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("<think>Fourteen [1]? No: <b>.</think>\n\nSixteen [1].", "Sixteen [1]."),
        ("\n<Thinking>Hm.</thinking> Sixteen.", "Sixteen."),
        ("<think></think>Sixteen.", "Sixteen."),
        ("<think>Hm. Sixteen [1].", ""),
        ("<think", "<think"),
        ("<thin> Sixteen.", "<thin> Sixteen."),
        ("Sixteen. <think>Hm.</think>", "Sixteen. <think>Hm.</think>"),
        ("", ""),
    ],
)
def test_reasoning_is_no_part_of_the_answer(written: str, answer: str) -> None:
    for size in (1, 3, 100):
        found = WithoutReasoning()
        pieces = [found.add(written[start : start + size]) for start in range(0, len(written), size)]
        assert "".join([*pieces, found.end()]).lstrip() == answer, size
