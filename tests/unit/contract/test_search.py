"""A request is checked before anything runs."""

import pytest

from sourcebook.contract.filters import Filters
from sourcebook.contract.fusion import Fusion
from sourcebook.contract.reranking import Reranking
from sourcebook.contract.search import DEFAULT_FUSION, MOST_CHARACTERS, SearchRequest
from sourcebook.errors import QueryError


def test_nothing_but_a_query_is_needed() -> None:
    request = SearchRequest.checked("tide")
    assert (request.query, request.collections, request.limit, request.mode) == ("tide", None, None, "hybrid")
    assert (request.offset, request.filters, request.fusion, request.rerank) == (0, None, DEFAULT_FUSION, None)


def test_short_forms_stand_for_long_ones() -> None:
    request = SearchRequest.checked(
        "tide", "handbook", fusion="rrf", rerank="some/model", filters={"tag": "policy"}, diversity=1
    )
    assert request.collections == ("handbook",)
    assert request.fusion == Fusion("rrf")
    assert request.rerank == Reranking("some/model")
    assert request.filters == Filters(tags_any="policy")
    assert request.diversity == 1.0
    assert SearchRequest.checked("tide", {"a": 1, "b": 2}).collections == ("a", "b")  # type: ignore[arg-type]


def test_what_is_no_text_is_replaced() -> None:
    """PostgreSQL takes neither NUL nor half a pair of surrogates."""
    assert SearchRequest.checked("tide\0gauge").query == "tide gauge"
    assert SearchRequest.checked("\ud800 tide").query == "? tide"
    assert SearchRequest.checked("tide", ["a\0", "\udfff"]).collections == ("a ", "?")


def test_the_longest_query() -> None:
    assert SearchRequest.checked(" " + "x" * MOST_CHARACTERS).query
    with pytest.raises(QueryError, match="the query has 100,001 characters, at most 100,000 are searched"):
        SearchRequest.checked("x" * (MOST_CHARACTERS + 1))


@pytest.mark.parametrize("number", [0, -1, 1_001, "5", 5.0, True, float("nan"), [5]])
def test_a_limit_is_a_whole_number_within_bounds(number: object) -> None:
    with pytest.raises(QueryError, match=r"the limit is .*; it must be 1 to 1,000"):
        SearchRequest.checked("tide", limit=number)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["typos", "literal", "explain"])
@pytest.mark.parametrize("value", ["no", 1, []])
def test_a_switch_is_true_or_false(name: str, value: object) -> None:
    """`"no"` would be taken for yes. Without `literal`, the query decides."""
    with pytest.raises(QueryError, match=f"{name} is .*; it must be True"):
        SearchRequest.checked("tide", **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["mode", "group_by", "diversity", "fusion", "rerank", "filters", "collections"])
@pytest.mark.parametrize("value", [[], 5j, b"x", object()])
def test_a_value_of_another_type_is_refused(name: str, value: object) -> None:
    with pytest.raises(QueryError):
        SearchRequest.checked("tide", **{name: value})  # type: ignore[arg-type]


def test_the_least_relevance_is_a_probability() -> None:
    """None leaves it to the search; 0 asks for every passage."""
    assert SearchRequest.checked("tide").min_relevance is None
    assert SearchRequest.checked("tide", min_relevance=0).min_relevance == 0.0
    for wrong in (-0.1, 1.5, "0.5", True, float("nan")):
        with pytest.raises(QueryError, match=r"min_relevance is .*; it must be 0 to 1, or None"):
            SearchRequest.checked("tide", min_relevance=wrong)  # type: ignore[arg-type]
