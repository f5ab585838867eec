"""One result a document."""

from hypothesis import given
from hypothesis import strategies as st

from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.order import group_by_document


def test_the_best_passage_leads_and_the_others_are_listed() -> None:
    """Documents stand in the order of their best passages; a passage that left the index meanwhile is left out."""
    a, b, c, d, gone = (Candidate(number, 1 / number, 100) for number in range(1, 6))
    groups = group_by_document([a, b, c, d, gone], {1: 10, 2: 20, 3: 10, 4: 10})
    assert groups == [a._replace(also=(c, d)), b]


RANKING = st.lists(st.sampled_from([100, 400, 1600]), max_size=40).map(sorted)


@given(RANKING, st.data())
def test_a_deeper_search_changes_no_group_of_an_earlier_page(depths: list[int], data: st.DataObject) -> None:
    """The groups of the first depth are the same, members and all, when candidates of deeper looks stand behind."""
    ranking = [Candidate(number, 1 / (number + 1), depth) for number, depth in enumerate(depths)]
    documents = {candidate.chunk_id: data.draw(st.integers(0, 9)) for candidate in ranking}
    for depth in (100, 400):
        shallow = group_by_document([each for each in ranking if each.depth <= depth], documents)
        assert group_by_document(ranking, documents)[: len(shallow)] == shallow
