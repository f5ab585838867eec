"""Completions of a query from the results that are shown."""

from dataclasses import dataclass
from typing import Any, cast

import pytest

from sourcebook.server.page.completions import completions


@dataclass
class Hit:
    title: str | None
    text: str
    heading_path: tuple[str, ...] = ()


HITS = [Hit("Battery care", "Batteries of the gauge"), Hit(None, "The BATTERIES last. bat", ("Batten",))]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("spare bat", ["spare batteries", "spare batten", "spare battery"]),
        ("Bat", ["batteries", "batten", "battery"]),
        ("batteries", []),
        ("b", []),
        ("bat ", []),
        ("", []),
        ("(bat", ["(batteries", "(batten", "(battery"]),
    ],
)
def test_the_last_word_is_completed_by_words_of_the_results_alone(typed: str, expected: list[str]) -> None:
    assert completions(typed, cast("Any", HITS)) == expected
    assert completions(typed, []) == []
