"""Lists of a query and its parts become one: by ranks, each passage once, page after page."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.contract.fusion import Fusion
from sourcebook.search.ranking.fusion import RankedList
from sourcebook.search.ranking.leg import LegResult
from sourcebook.search.ranking.merged_list import MergedList

LIST = st.permutations(range(20)).flatmap(lambda chunks: st.integers(0, 20).map(lambda length: chunks[:length]))


def ranked(chunks: Sequence[int], name: str = "vector") -> RankedList:
    """Return a list of one leg, which is asked for 3, 12 and 48 entries."""
    return RankedList(
        lambda depth: {name: LegResult([(chunk, -float(place)) for place, chunk in enumerate(chunks[:depth])])},
        Fusion(),
        first=3,
        deepest=48,
    )


def test_the_first_of_each_part_comes_before_the_middle_of_all() -> None:
    """1 / (1 + rank), half of it for the whole query; equal scores in the order of ids."""
    merged = MergedList(ranked([5, 1, 2]), [ranked([1, 5, 3]), ranked([2, 5, 4])])
    merged.extend()
    assert [each.chunk_id for each in merged.candidates] == [5, 1, 2, 3, 4]
    expected = [1 / 4 + 1 / 3 + 1 / 3, 1 / 2 + 1 / 6, 1 / 2 + 1 / 8, 1 / 4, 1 / 4]
    assert [each.score for each in merged.candidates] == pytest.approx(expected)


def test_a_passage_is_judged_by_the_part_that_it_answers() -> None:
    """Its ranks and scores are those of the list in which it stands highest; a part wins against the whole query."""
    whole, part = ranked([1, 2]), ranked([2, 1, 3])
    merged = MergedList(whole, [part])
    merged.extend()
    of = {each.chunk_id: each for each in merged.candidates}
    assert merged.legs_of(of[1]) is whole.first_legs
    assert merged.legs_of(of[2]) is part.first_legs
    assert merged.legs_of(of[3]) is part.first_legs
    assert (of[2].vector_rank, of[3].vector_rank) == (1, 3)
    assert merged.first_legs is whole.first_legs


@given(LIST, st.lists(LIST, min_size=1, max_size=3))
def test_an_extension_appends(whole: Sequence[int], parts: Sequence[Sequence[int]]) -> None:
    """It changes nothing before, repeats and loses no passage, and scores never rise."""
    merged = MergedList(ranked(whole), [ranked(part) for part in parts])
    before: list[int] = []
    while not (merged.depth and merged.is_final):
        merged.extend()
        chunks = [each.chunk_id for each in merged.candidates]
        assert chunks[: len(before)] == before
        before = chunks
    assert sorted(before) == sorted({chunk for chunks in (whole, *parts) for chunk in chunks})
    assert merged.has_everything
    scores = [each.score for each in merged.candidates]
    assert scores == sorted(scores, reverse=True)
