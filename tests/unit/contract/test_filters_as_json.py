"""Filters survive the way through JSON."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from sourcebook.contract.filters import Filters
from sourcebook.errors import QueryError

KYIV = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    "filters",
    [
        {"kind": "file", "tags": ["policy"], "language": "en"},
        Filters(tags_all=frozenset({"policy"}), documents=[1, "power.md"], paths="handbook/", domains=("a.example",)),
        {"date": date(2024, 5, 31), "added": {"gte": datetime(2024, 5, 31, 12, 30, 1, 5, KYIV)}, "changed": "2024"},
        {"metadata": {"year": {"gte": 2020}, ("review", "by"): "Ada", "draft": None, "late": {"exists": False}}},
        {"metadata": {"due": date(2024, 5, 31)}},
        {"metadata": {"due": {"eq": datetime(2024, 5, 31, 12, tzinfo=UTC)}}},
        {"metadata": {"due": {"gt": date(2024, 5, 31), "lte": datetime(2024, 7, 1, 8, tzinfo=KYIV)}}},
        {"metadata": {"place": ["Poole", "Hull", 3, 2.5, True, None]}},
    ],
)
def test_filters_have_the_same_conditions_as_json(filters: Any) -> None:
    sent = json.loads(json.dumps(as_json(filters)))
    assert conditions(Filters.checked(sent)) == conditions(Filters.checked(filters))


@pytest.mark.parametrize(
    "filters", [{"metadata": {"due": [date(2024, 5, 31)]}}, {"metadata": {"due": {"in": [date(2024, 5, 31)]}}}]
)
def test_a_list_of_dates_is_refused(filters: Any) -> None:
    with pytest.raises(QueryError, match="a list of dates cannot be sent"):
        as_json(filters)


def test_pairs_that_are_none_are_refused() -> None:
    for pairs in ([], [["a"]], ["ab", "cd"], [[["a", 1], 2]], [[[], 2]]):
        with pytest.raises(QueryError, match="metadata"):
            Filters.checked({"metadata": pairs})


def as_json(filters: Any) -> Any:
    checked = Filters.checked(filters)
    return None if checked is None else checked.as_json()


def conditions(filters: Filters | None) -> str:
    """Return the conditions as text: values of the database are equal where they are written alike."""
    assert filters is not None
    return repr(list(filters.values()))
