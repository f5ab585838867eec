"""Pages are slices of one list, however deep each of them has to look."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from sourcebook.search.candidate import Candidate
from sourcebook.search.diversity import diversify
from sourcebook.search.grouping import group_by_document
from sourcebook.search.paging import DEEPEST, deeper, page_of, rank

Legs = Mapping[str, Sequence[int]]
FIRST, LAST = 3, 48


@dataclass(frozen=True)
class Item:
    chunk_id: int
    score: float


def test_depths_grow_in_steps() -> None:
    """A small page looks at a hundred entries of each leg; no page looks at more than ten thousand."""
    assert list(deeper()) == [
        (100,),
        (100, 400),
        (100, 400, 1600),
        (100, 400, 1600, 6400),
        (100, 400, 1600, 6400, DEEPEST),
    ]
    assert list(deeper(101)) == list(deeper())[1:]
    assert list(deeper(10**9)) == list(deeper())[-1:]
    assert list(deeper(first=2 * DEEPEST)) == [(DEEPEST,)]


def asked_for(leg: Sequence[int], depth: int) -> Sequence[int]:
    """What an approximate index gives: at each depth it misses others, and all there is where that is not enough."""
    found = [chunk for chunk in leg if (chunk + depth) % 4][:depth]
    return found if len(found) == depth else leg[:depth]


def reciprocal(legs: Legs, depth: int) -> list[Item]:
    """Reciprocal rank fusion of what the legs give."""
    scores: dict[int, float] = defaultdict(float)
    for ranking in legs.values():
        for place, chunk in enumerate(asked_for(ranking, depth)):
            scores[chunk] += 1 / (60 + place)
    return sorted((Item(*pair) for pair in scores.items()), key=lambda item: (-item.score, item.chunk_id))


def normalised(legs: Legs, depth: int) -> list[Item]:
    """A sum of scores scaled by the least and the greatest of each leg: it changes wholly with the depth."""
    scores: dict[int, float] = defaultdict(float)
    for ranking in legs.values():
        values = {chunk: 1 / (place + 1) for place, chunk in enumerate(asked_for(ranking, depth))}
        for chunk, value in values.items():
            span = max(values.values()) - min(values.values())
            scores[chunk] += (value - min(values.values())) / span if span else 1.0
    return sorted((Item(*pair) for pair in scores.items()), key=lambda item: (-item.score, item.chunk_id))


LEG = st.permutations(range(30)).flatmap(lambda leg: st.integers(0, 30).map(lambda length: leg[:length]))
MODES = {"hybrid": ("vector", "keyword"), "vector": ("vector",), "keyword": ("keyword",)}


@given(
    st.fixed_dictionaries({"vector": LEG, "keyword": LEG}),
    st.sampled_from(list(MODES)),
    st.sampled_from([reciprocal, normalised]),
    st.sampled_from([0.0, 0.6]),
    st.booleans(),
    st.integers(0, 8),
    st.integers(1, 7),
)
def test_pages_are_slices_of_one_long_page(
    legs: Legs, mode: str, fusion: object, diversity: float, grouped: bool, top: int, limit: int
) -> None:
    """Every mode and fusion, with reranking, diversity and grouping or without: page after page is the long page, cut.

    The legs are approximate, and are asked for 3, 12 and 48 entries: pages need different depths.
    """
    legs = {name: legs[name] for name in MODES[mode]}
    fuse = reciprocal if fusion is reciprocal else normalised

    def found(offset: int, limit: int) -> tuple[list[object], int | None]:
        """One search, as the pipeline runs it."""
        reach = offset + limit + 1
        for depths in deeper(first=FIRST, deepest=LAST):
            ranking = rank(lambda depth: fuse(legs, depth), depths)
            # Reranking: a permutation of the first candidates that depends on them alone.
            first = sorted(ranking[:top], key=lambda each: (each.chunk_id * 7 % 11, each.chunk_id))
            ranking = [Candidate(c.chunk_id, c.score, c.depth, -i) for i, c in enumerate(first)] + ranking[top:]
            items: list[object] = []
            if grouped:
                groups = group_by_document(ranking, {chunk: chunk % 5 for chunk in range(30)})
                by_chunk = {group.best.chunk_id: group for group in groups}
                best = [group.best for group in groups]
                items += [by_chunk[each.chunk_id] for each in diversify(best, {}, diversity, reach)]
            else:
                items += diversify(ranking, {}, diversity, reach)
            is_end = all(len(asked_for(leg, depths[-1])) < depths[-1] for leg in legs.values())
            if is_end or (len(items) >= reach and len(ranking) >= top):
                break
        page = page_of(items, offset, limit)
        return list(page.items), page.next_offset

    whole, end = found(0, 60)
    assert end is None
    pages: list[object] = []
    offset: int | None = 0
    while offset is not None:
        page, offset = found(offset, limit)
        pages += page
    assert pages == whole
    assert found(len(whole), limit) == ([], None), "behind the end there is nothing"
    if not grouped:
        assert len(whole) == len({chunk for leg in legs.values() for chunk in leg}), "nothing is skipped"


@given(st.fixed_dictionaries({"vector": LEG, "keyword": LEG}))
def test_scores_never_rise_from_one_place_to_the_next(legs: Legs) -> None:
    """What a deeper look brings has at most the score of what stands before it."""
    scores = [each.score for each in rank(lambda depth: normalised(legs, depth), (3, 12, 48))]
    assert scores == sorted(scores, reverse=True)
