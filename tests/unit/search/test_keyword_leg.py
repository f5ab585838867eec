"""How far the keyword leg looks before it scores everything that fulfils a condition."""

import pytest
from psycopg import sql

from sourcebook.config.passages import EmbeddingSettings
from sourcebook.search.ranking.keyword_leg import _further
from sourcebook.search.scope import EntryCondition, ScopedGeneration


def looks(seen: int, stored: int, *, is_sight: bool = True) -> list[int]:
    """Return how many of the best entries are tested one after the other, for the best hundred."""
    generation = ScopedGeneration("c", 1, "m", EmbeddingSettings(), 2, ("simple",), entries=seen, stored=stored)
    return [*_further(generation, 100, EntryCondition(sql.SQL("TRUE"), is_sight=is_sight))]


def test_a_filter_is_tested_among_four_times_as_many() -> None:
    """How many entries fulfil it is not known."""
    assert looks(50_000, 100_000, is_sight=False) == [400]


@pytest.mark.parametrize("stored", [0, 50_000, 100_000])
def test_the_share_that_a_reader_sees_says_how_far_to_look(stored: int) -> None:
    """Somewhat more than its part, then four times as many; statistics that are missing or old do no harm."""
    first, second = looks(50_000, stored)
    assert first == {0: 100, 50_000: 100, 100_000: 243}[stored]
    assert second == 4 * first


@pytest.mark.parametrize("seen", [1, 150, 1_000, 5_000])
def test_what_few_see_is_scored_at_once(seen: int) -> None:
    """Nothing is tested where that is as much work."""
    assert looks(seen, 100_000) == []
