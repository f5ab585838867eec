"""Periods of time that filters compare with: a date stands for the whole period that it names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from sourcebook.contract.filtering.values import choices_of, shown
from sourcebook.errors import QueryError

BOUNDS = ("gte", "gt", "lte", "lt")
ALLOWED = (
    "a date such as 2024, 2024-05, 2024-05-31 or 2024-05-31T12:00:00+02:00, "
    "or a range such as {'gte': '2024-01-01', 'lt': '2025-01-01'}"
)

_ISO = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{2})(?:-(?P<day>\d{2})"
    r"(?P<time>[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?)?)?",
    re.ASCII,
)
START_OF_TIME = datetime.min.replace(tzinfo=UTC)
END_OF_TIME = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Period:
    """Half-open period from `start` to before `end`; None leaves that side open."""

    start: datetime | None = None
    end: datetime | None = None


def is_date_text(value: object) -> bool:
    """Return whether a text has the form of an ISO 8601 date or date with time; a lone year is a number."""
    return isinstance(value, str) and len(value) > 4 and _ISO.fullmatch(value) is not None


def period_of(key: str, value: object) -> Period:
    """Return the period of a date or of a range of dates.

    A year, a month or a day stands for all of it: `{"gte": "2024", "lte": "2024"}` is the whole year. A time without
    a zone is UTC, as it is for the dates of documents.

    Raises:
        QueryError: the value is neither a date nor a range of dates, or the range is empty.
    """
    if not isinstance(value, Mapping):
        start, end = _named(key, value)
        return Period(start, end)
    bounds = {name: _named(f"{key}.{name}", bound) for name, bound in choices_of(key, value, BOUNDS).items()}
    starts = [bounds[name][side] for name, side in (("gte", 0), ("gt", 1)) if name in bounds]
    ends = [bounds[name][side] for name, side in (("lte", 1), ("lt", 0)) if name in bounds]
    period = Period(max(starts, default=None), min(ends, default=None))
    if period.start is not None and period.end is not None and period.start >= period.end:
        raise QueryError(
            f"the filter {key} is {shown(dict(value))}, a range that holds no date: are its ends reversed?"
        )
    return period


def _named(key: str, value: object) -> tuple[datetime, datetime]:
    """Return the first moment of the period that a date names, and the first moment after it."""
    try:
        match value:
            case datetime():
                return _moment(value)
            case date():
                return _day(value)
            case str() if parts := _ISO.fullmatch(value):
                return _read(value, parts)
    except (ValueError, OverflowError):
        raise QueryError(f"the filter {key} is {shown(value)}, and no calendar has that date") from None
    raise QueryError(f"the filter {key} is {shown(value)}; it must be {ALLOWED}")


def _read(text: str, parts: re.Match[str]) -> tuple[datetime, datetime]:
    year = int(parts["year"])
    if parts["month"] is None:
        return _day(date(year, 1, 1))[0], _day(date(year, 12, 31))[1]
    month = int(parts["month"])
    if parts["day"] is None:
        first = date(year, month, 1)
        last = date(year, 12, 31) if month == 12 else date(year, month + 1, 1) - timedelta(days=1)
        return _day(first)[0], _day(last)[1]
    return _moment(datetime.fromisoformat(text)) if parts["time"] else _day(date.fromisoformat(text))


def _day(day: date) -> tuple[datetime, datetime]:
    start = datetime.combine(day, time(), UTC)
    return start, END_OF_TIME if day == date.max else start + timedelta(days=1)


def _moment(moment: datetime) -> tuple[datetime, datetime]:
    start = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return start, start + timedelta(microseconds=1)
