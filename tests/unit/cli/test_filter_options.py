"""Filters on the command line: `KEY=VALUE`, `KEY>=VALUE`."""

import pytest

from sourcebook.cli.filter_options import parse_filters
from sourcebook.contract.filters import Filters
from sourcebook.errors import QueryError


@pytest.mark.parametrize(
    ("texts", "filters"),
    [
        (["kind=page", "kind=file"], Filters(kinds=["page", "file"])),
        (["tag=a b", "tags_all=c"], Filters(tags_any=["a b"], tags_all=["c"])),
        (["uri_prefix=https://example.org/?a=b"], Filters(uri_prefix="https://example.org/?a=b")),
        (["date=2024-05"], Filters(date="2024-05")),
        (["date >= 2024-05", "date<2025"], Filters(date={"gte": "2024-05", "lt": "2025"})),
        (["metadata.year>2020"], Filters(metadata={("year",): {"gt": 2020}})),
        (["metadata.a.b<=2020-05"], Filters(metadata={("a", "b"): {"lte": "2020-05"}})),
        (["metadata.version=2"], Filters(metadata={("version",): [2, "2"]})),
        (["metadata.author=A", "metadata.author=B"], Filters(metadata={("author",): ["A", "B"]})),
        (["metadata.draft=true"], Filters(metadata={("draft",): [True, "true"]})),
        (["metadata.note=x>=1"], Filters(metadata={("note",): ["x>=1"]})),
        (["metadata.code=007"], Filters(metadata={("code",): ["007"]})),
    ],
)
def test_texts_name_filters(texts: list[str], filters: Filters) -> None:
    """What is typed says what the class says."""
    assert parse_filters(texts) == filters


def test_no_texts_are_no_filters() -> None:
    """A search without `--filter` is not filtered."""
    assert parse_filters([]) is None


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["page"], "'page' must be KEY=VALUE"),
        (["=page"], "'=page' must be KEY=VALUE"),
        (["colour=red"], "there is no filter 'colour'"),
        (["year>=2020"], "only dates and metadata have an order"),
        (["metadata=x"], "metadata is ['x']; it must be a mapping"),
        (["metadata.=x"], "metadata is empty"),
        (["date=2024", "date=2025"], "repeats another one"),
        (["date=2024", "date>=2025"], "repeats the field of another one"),
        (["metadata.year>=2020", "metadata.year>=2021"], "repeats another one"),
        (["metadata.year=2020", "metadata.year>=2021"], "repeats the field of another one"),
        (["metadata.year>=x", "metadata.year<=2021"], "must be numbers, dates or texts alike"),
        (["kind=page\0"], "kind has 'page\\x00'"),
    ],
)
def test_what_is_wrong_with_a_text_is_named(texts: list[str], told: str) -> None:
    """A typing error is told, never taken for another filter."""
    with pytest.raises(QueryError) as raised:
        parse_filters(texts)
    assert told in str(raised.value)
