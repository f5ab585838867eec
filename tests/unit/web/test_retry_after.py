"""The Retry-After header."""

from datetime import UTC, datetime, timedelta

import pytest

from sourcebook.web.fetching.retries import parse_retry_after

NOW = datetime(2015, 10, 21, 7, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("0", timedelta(0)),
        (" 120 ", timedelta(seconds=120)),
        ("1.5", timedelta(seconds=1.5)),
        ("Wed, 21 Oct 2015 07:29:30 GMT", timedelta(seconds=90)),
        ("Wednesday, 21-Oct-15 07:29:30 GMT", timedelta(seconds=90)),
        ("Wed Oct 21 07:29:30 2015", timedelta(seconds=90)),
        ("Wed, 21 Oct 2015 07:00:00 GMT", timedelta(0)),
        ("86401", timedelta(hours=24)),
        ("9" * 400, timedelta(hours=24)),
        ("Wed, 21 Oct 2099 07:28:00 GMT", timedelta(hours=24)),
    ],
)
def test_seconds_and_dates_are_read(value: str, wait: timedelta) -> None:
    """Both forms of HTTP are understood, up to a day."""
    assert parse_retry_after(value, NOW) == wait


@pytest.mark.parametrize("value", [None, "", "soon", "-5", "1e3", "٣", "nan", "Wed, 99 Oct 2015 99:99:99 GMT", "1;2"])
def test_nonsense_is_ignored(value: str | None) -> None:
    """What is neither says nothing."""
    assert parse_retry_after(value, NOW) is None
