"""Read the Retry-After header."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

LONGEST = timedelta(hours=24)
_SECONDS = re.compile(r"\d+(\.\d*)?", re.ASCII)


def parse_retry_after(value: str | None, now: datetime | None = None) -> timedelta | None:
    """Return how long a server asks to be left alone, from 0 to 24 hours; None where it says nothing readable.

    Args:
        value: seconds, or a date of HTTP.
        now: what a date is compared with; unset: the time it is.
    """
    value = (value or "").strip()
    if _SECONDS.fullmatch(value):
        return timedelta(seconds=min(float(value), LONGEST.total_seconds()))
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return min(max(date - (now or datetime.now(UTC)), timedelta(0)), LONGEST)
