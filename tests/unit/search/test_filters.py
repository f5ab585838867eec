"""Filters are checked when they are made: what is wrong is named, with what is allowed."""

import datetime as dt
import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.contract.filters import FILTER_NAMES, Filters
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.search.ranking.filter_conditions import condition_of


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ({"kinds": "pages"}, "kinds has 'pages'; it may have file, page, recording"),
        ({"kind": 3}, "kind is 3; it must be a text or a list of texts"),
        ({"kinds": ["page", None]}, "kinds has None"),
        ({"kinds": []}, "kinds is an empty list"),
        ({"kinds": ()}, "kinds is an empty list"),
        ({"tags": {"policy": True}}, "tags is {'policy': True}; it must be a text or a list"),
        ({"tags_all": ["x"] * 1_000_000}, "lists 1,000,000 values; at most 1,000"),
        ({"tags_any": ["a\0b"]}, "which holds characters that no text has"),
        ({"tags_any": ["\udc80"]}, "which holds characters that no text has"),
        ({"tags_any": [""]}, "tags_any is empty"),
        ({"tags_any": "x" * 10_001}, "has a text of 10,001 characters; at most 10,000"),
        ({"media_type": "pdff"}, "media_type has 'pdff'; it must be a media type such as"),
        ({"media_types": "*/*"}, "media_types has '*/*'"),
        ({"languages": "english"}, "languages has 'english'; it must be a code of ISO 639-1"),
        ({"languages": b"en"}, "languages is b'en'; it must be"),
        ({"uri_prefix": ["https://"]}, "uri_prefix is ['https://']; it must be a text"),
        ({"sources": 5.0}, "sources is 5.0"),
        ({"colour": "red"}, "there is no filter 'colour'; there is sources, kinds,"),
        ({5: "red"}, "there is no filter 5;"),
        ({"tag": "a", "tags": "b"}, "the filter tags_any is given twice"),
        ({"date": 2024}, "date is 2024; it must be a date such as 2024, 2024-05"),
        ({"date": "soon"}, "date is 'soon'; it must be a date"),
        ({"date": "2024-02-30"}, "no calendar has that date"),
        ({"date": "0000"}, "no calendar has that date"),
        ({"date": "0001-01-01T00:00:00+14:00"}, "no calendar has that date"),
        ({"date": {"since": "2024"}}, "date has 'since'; it may have gte, gt, lte, lt"),
        ({"date": {}}, "date is an empty mapping"),
        (
            {"added": {"gte": "2025", "lt": "2024"}},
            "added is {'gte': '2025', 'lt': '2024'}, a range that holds no date",
        ),
        ({"changed": {"gt": "2024", "lt": "2025"}}, "a range that holds no date"),
        ({"changed": {"gte": None}}, "changed.gte is None; it must be a date"),
        ({"metadata": "year"}, "metadata is 'year'; it must be a mapping"),
        ({"metadata": {}}, "metadata is {}; it must be a mapping"),
        ({"metadata": dict.fromkeys(map(str, range(51)), 1)}, "has 51 keys; at most 50"),
        ({"metadata": {"": 1}}, "metadata is empty"),
        ({"metadata": {5: 1}}, "metadata is 5; it must be a key, or a tuple"),
        ({"metadata": {(): 1}}, "has 0 parts; it must have 1 to 16"),
        ({"metadata": {("a", "b"): object}}, "metadata.a.b is <class 'object'>; it must be a text, number"),
        ({"metadata": {"year": []}}, "metadata.year is an empty list"),
        ({"metadata": {"year": [[2020]]}}, "metadata.year is [2020]; it must be"),
        ({"metadata": {"year": {"over": 1}}}, "metadata.year has 'over'; it may have eq, in, exists, gte, gt, lte, lt"),
        ({"metadata": {"year": math.nan}}, "a number must be finite"),
        ({"metadata": {"year": {"gte": -math.inf}}}, "metadata.year.gte is -inf; a number must be finite"),
        ({"metadata": {"year": 10**400}}, "a number of many digits; a number must be finite"),
        ({"metadata": {"year": {"gte": 2}, "draft": {"gte": True}}}, "the ends of a range must be"),
        ({"metadata": {"year": {"gte": 2020, "lt": "2021"}}}, "the ends of a range must be numbers, dates or texts"),
        ({"metadata": {"year": {"gte": 2021, "lte": 2020}}}, "a range that holds nothing: are its ends reversed?"),
        ({"metadata": {"year": {"gt": 2020, "lt": 2020}}}, "a range that holds nothing"),
        ({"metadata": {"name": {"gte": "b", "lt": "a"}}}, "a range that holds nothing"),
        ({"metadata": {"name": {"exists": "no"}}}, "metadata.name.exists is 'no'; it must be true or false"),
        ({"metadata": {"name": {"in": "abc"}}}, "metadata.name.in is 'abc'; it must be a list of values"),
        ({"metadata": {"due": [dt.date(2024, 1, 1)] * 21}}, "lists 21 dates; at most 20 are allowed: give it a range"),
        ({"metadata": {"name": "a\0"}}, "which holds characters that no text has"),
        (
            {"domain": "https://example.org"},
            "the filter domain has 'https://example.org'; it must be the name of a host",
        ),
        ({"extension": "a/b"}, "the filter extension has 'a/b'; it must be the ending of a file's name"),
        ({"document": []}, "the filter document is an empty list"),
        ({"document": [True]}, "the filter document is True; it must be an id, a URI or the end of a path"),
        ("kind=page", "the filters are 'kind=page'; they must be Filters or a mapping"),
        (["kind"], "the filters are ['kind']; they must be Filters or a mapping"),
    ],
)
def test_what_is_wrong_with_a_filter_is_named_with_what_is_allowed(filters: Any, told: str) -> None:
    """A wrong filter is a `QueryError`, never a result that somebody did not ask for."""
    with pytest.raises(QueryError) as raised:
        Filters.checked(filters)
    assert told in str(raised.value)


def test_no_filter_is_no_condition() -> None:
    """Nothing filtered costs nothing."""
    assert Filters.checked(None) is None
    empty = Filters.checked({})
    assert empty is not None
    assert condition_of(empty, None) is None


def test_a_mapping_and_the_class_say_the_same() -> None:
    """The short names of a mapping stand for the fields."""
    short = Filters.checked({"kind": "page", "tags": ["policy"], "language": "DE", "metadata": {"year": 2020}})
    assert short == Filters(kinds="page", tags_any=["policy"], languages="DE", metadata={"year": 2020})


def _words(text: str) -> set[str]:
    return set(re.sub(r"[()]", " ", text).split())


FRAGMENTS = {
    word
    for name, query in queries.items()
    if name.startswith("filter_")
    for word in _words(re.sub(r"\{\w+\}", "", query.as_string()).replace("{{}}", "{}"))
}
"""Every word that the project's own fragments are made of."""

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates() | st.datetimes(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["gte", "lt", "in", "exists", "eq"]) | st.text(), inner, max_size=3)
        | st.tuples(inner)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*FILTER_NAMES, "kind", "tags"]) | st.text(), VALUES, max_size=4))
def test_whatever_is_given_is_taken_or_refused(filters: dict[str, Any]) -> None:
    """No value makes anything but filters or a `QueryError`, and the SQL of filters is made of the project's words."""
    try:
        made = Filters.checked(filters)
    except QueryError:
        return
    assert made is not None
    condition = condition_of(made, None)
    if condition is None:
        return
    assert _words(re.sub(r"%\(filter_\d+\)s", "", condition.text.as_string())) <= FRAGMENTS | {"AND", "OR"}


DAY = dt.date(2024, 5, 31)


@pytest.mark.parametrize(
    "value",
    [
        "2024-05-31",
        DAY,
        {"gte": "2024-05-31", "lte": "2024-05-31"},
        {"gt": "2024-05-30", "lt": "2024-06"},
        {"gte": dt.datetime(2024, 5, 31, tzinfo=dt.UTC), "lt": "2024-06-01T00:00"},
        {"gte": "2024-05-31T02:00:00+02:00", "lt": "2024-05-31T23:00-01:00"},
        {"gte": dt.datetime(2024, 5, 31), "lte": DAY},  # noqa: DTZ001 - without a zone, which is UTC
    ],
)
def test_a_day_is_the_whole_day_in_utc(value: Any) -> None:
    """Ends are inclusive or exclusive as they say, and count in periods as large as they are written."""
    condition = condition_of(Filters(date=value), None)
    assert condition is not None
    assert sorted(condition.parameters.values()) == [
        dt.datetime(2024, 5, 31, tzinfo=dt.UTC),
        dt.datetime(2024, 6, 1, tzinfo=dt.UTC),
    ]


def test_the_last_day_of_all_has_an_end() -> None:
    """The calendar's ends are dates like others."""
    assert condition_of(Filters(date={"lte": "9999-12-31"}), None) is not None
    assert condition_of(Filters(date="0001"), None) is not None
