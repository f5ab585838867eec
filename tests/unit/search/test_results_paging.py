"""Pages are slices of one list, at whatever depth each of them ends."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from sourcebook.contract.fusion import Fusion, Method
from sourcebook.search.ranking.diversity import diversify
from sourcebook.search.ranking.fusion import DEEPEST, Candidate, RankedList
from sourcebook.search.ranking.leg import LegResult
from sourcebook.search.ranking.order import group_by_document

Legs = Mapping[str, Sequence[int]]
FIRST, LAST = 3, 48


def test_depths_grow_in_steps() -> None:
    """A small page asks each leg for a hundred entries; no page asks for more than ten thousand."""
    asked: list[int] = []

    def find(depth: int) -> dict[str, LegResult]:
        asked.append(depth)
        return {"vector": LegResult([(chunk, -float(chunk)) for chunk in range(depth)])}

    ranked = RankedList(find, Fusion())
    assert (ranked.candidates, ranked.depth) == ([], 0)
    ranked.extend()
    while not ranked.is_final:
        ranked.extend()
    assert asked == [100, 400, 1600, 6400, DEEPEST]
    assert not ranked.has_everything
    assert len(ranked.candidates) == DEEPEST
    at_once = RankedList(find, Fusion(), first=2 * DEEPEST)
    at_once.extend()
    assert (at_once.depth, at_once.is_final) == (DEEPEST, True)


def asked_for(leg: Sequence[int], depth: int) -> Sequence[int]:
    """Return the entries of an approximate index: at each depth it misses others, unless it would give too few."""
    found = [chunk for chunk in leg if (chunk + depth) % 4][:depth]
    return found if len(found) == depth else leg[:depth]


def ranked_list(legs: Legs, method: Method) -> RankedList:
    """Return the list of approximate legs, whose scores change with the depth; they are asked for 3, 12, 48 entries."""

    def find(depth: int) -> dict[str, LegResult]:
        return {
            name: LegResult([(chunk, 1 / (place + 1)) for place, chunk in enumerate(asked_for(leg, depth))])
            for name, leg in legs.items()
        }

    return RankedList(find, Fusion(method), first=FIRST, deepest=LAST)


LEG = st.permutations(range(30)).flatmap(lambda leg: st.integers(0, 30).map(lambda length: leg[:length]))
MODES = {"hybrid": ("vector", "keyword"), "vector": ("vector",), "keyword": ("keyword",)}


@given(
    st.fixed_dictionaries({"vector": LEG, "keyword": LEG}),
    st.sampled_from(list(MODES)),
    st.sampled_from(["weighted", "rrf"]),
    st.sampled_from([0.0, 0.6]),
    st.booleans(),
    st.integers(0, 8),
    st.integers(1, 7),
)
def test_pages_are_slices_of_one_long_page(
    legs: Legs, mode: str, method: Method, diversity: float, grouped: bool, top: int, limit: int
) -> None:
    """In every mode, fusion and order, reranked, grouped or not: page after page is the long page, cut."""
    legs = {name: legs[name] for name in MODES[mode]}

    def search(offset: int, limit: int) -> tuple[list[Candidate], int | None]:
        """One search, as `run_search` does it."""
        reach = offset + limit + 1
        documents = {chunk: chunk % 5 for chunk in range(30)}
        ranked = ranked_list(legs, method)
        while True:
            ranked.extend()
            found = {documents[each.chunk_id] if grouped else each.chunk_id for each in ranked.candidates}
            if ranked.is_final or (len(found) >= reach and len(ranked.candidates) >= top):
                break
        # Reranking: a permutation of the first candidates that depends on them alone.
        first = sorted(ranked.candidates[:top], key=lambda each: (each.chunk_id * 7 % 11, each.chunk_id))
        items = [each._replace(rerank_score=-place) for place, each in enumerate(first)] + ranked.candidates[top:]
        if grouped:
            items = group_by_document(items, documents)
        items = diversify(items, {}, diversity, reach)
        end = offset + limit
        return items[offset:end], end if end < len(items) else None

    whole, end = search(0, 60)
    assert end is None
    pages: list[Candidate] = []
    offset: int | None = 0
    while offset is not None:
        page, offset = search(offset, limit)
        pages += page
    assert pages == whole
    assert search(len(whole), limit) == ([], None), "behind the end there is nothing"
    if not grouped:
        assert len(whole) == len({chunk for leg in legs.values() for chunk in leg}), "nothing is skipped"


@given(st.fixed_dictionaries({"vector": LEG, "keyword": LEG}))
def test_scores_never_rise_from_one_place_to_the_next(legs: Legs) -> None:
    """A candidate of a greater depth has at most the score of the candidate before it."""
    ranked = ranked_list(legs, "weighted")
    for _ in range(3):
        ranked.extend()
    scores = [each.score for each in ranked.candidates]
    assert scores == sorted(scores, reverse=True)
