"""Crawler traps: endless parts of a site, recognised by repetition and by limits on pages that differ in numbers.

Ordinary paths such as `/posts/12345` and `/2024/05/12/a-title` are not limited in number. The length of a URL is
limited by its normal form, see `sourcebook.web.url.LONGEST_URL`.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime

DEEPEST_PATH = 20
"""Limit on the segments of a path. Generated documentation reaches 12 to 15; broken relative links grow without end."""
CALENDAR_PAGES = 300
"""Limit on the pages of a calendar: 25 years of months, or most of a year of days."""
QUERY_PAGES = 1000
"""Limit on the pages of a path that differ in parameters; each page with new content raises it by one."""
KNOWN_CONTENT = 50
"""Pages of one URL shape with known content that make it a trap, where less than one in five has new content."""

_REPEATED = re.compile(r"((?:/[^/]+){1,4}?)\1\1(?=/|\Z)")
_NUMBER = re.compile(r"[0-9a-f]{16,}|\d+", re.IGNORECASE)
_MONTH = re.compile(r"(?<!\d)\d{4}([/-])(?:0?[1-9]|1[0-2])(?!\d)")
_DAY = re.compile(r"(?<!\d)(\d{4})([/-])(?:0[1-9]|1[0-2])\2(?:0[1-9]|[12]\d|3[01])(?!\d)")
_CALENDAR = re.compile(r"/(?:calend[ae]r|kalender|events?|agenda|schedule|termine)(?=/)", re.IGNORECASE)
_DATE_PARAMETER = re.compile(
    r"(?:\A|&)(?:[\w.-]*[_.-])?(?:year|month|week|day|date)=[^&]*\d|=\d{4}-\d\d?(?!\d)", re.IGNORECASE
)
_FIRST_YEAR = 1970


@dataclass(slots=True)
class _Shape:
    """Counts of the URLs that differ only in numbers and parameter values."""

    admitted: set[int] = field(default_factory=set)
    new: int = 0
    known: int = 0


class TrapGuard:
    """Recognises traps during one crawl.

    A URL that was let through is let through again, unless its shape has become a trap.
    """

    def __init__(self, this_year: int | None = None) -> None:
        """Create a guard without counts.

        Args:
            this_year: reference year, by default the current one; years far from it belong to calendars.
        """
        self._last_year = (this_year or datetime.now(UTC).year) + 1
        self._shapes: defaultdict[str, _Shape] = defaultdict(_Shape)

    def refusal(self, url: str) -> str | None:
        """Return the reason not to follow a link, None where there is none.

        URLs of sitemaps and of users are not checked.

        Args:
            url: URL in normal form.
        """
        address, _, query = url.partition("?")
        path = "/" + address.split("/", 3)[-1]
        if path.count("/") > DEEPEST_PATH:
            return f"the path is deeper than {DEEPEST_PATH} parts"
        if (repeated := _repetition(path)) is not None:
            return f"the path repeats {repeated} over and over"
        shape = self._shapes.get(name := _shape_of(address, query))
        if shape is not None and shape.known >= KNOWN_CONTENT and shape.known > 4 * shape.new:
            return f"{shape.known} pages such as this one had content that was already known"
        if self._is_calendar(path, query):
            return self._limited(name, url, CALENDAR_PAGES, "of a calendar that goes on and on")
        if query:
            most = QUERY_PAGES + (shape.new if shape is not None else 0)
            return self._limited(name, url, most, "that differ only in their parameters")
        return None

    def learned(self, url: str, *, duplicate: bool) -> None:
        """Record the result of a request.

        Args:
            url: URL in normal form.
            duplicate: whether another URL had the same content.
        """
        address, _, query = url.partition("?")
        if not query and not _NUMBER.search(address):
            return  # no other URL has its shape
        shape = self._shapes[_shape_of(address, query)]
        if duplicate:
            shape.known += 1
        else:
            shape.new += 1

    def _limited(self, name: str, url: str, most: int, what: str) -> str | None:
        admitted = self._shapes[name].admitted
        if (key := hash(url)) not in admitted:
            if len(admitted) >= most:
                return f"{most} pages {what} are enough"
            admitted.add(key)
        return None

    def _is_calendar(self, path: str, query: str) -> bool:
        if query and _DATE_PARAMETER.search(query):
            return True
        if _CALENDAR.search(path):
            return _MONTH.search(path) is not None
        # Archives have dates too, but they end today and do not reach back that far.
        day = _DAY.search(path)
        return day is not None and not _FIRST_YEAR <= int(day[1]) <= self._last_year


def _repetition(path: str) -> str | None:
    parts = path.split("/")
    if len(parts) - len(set(parts)) < 2:
        return None
    repeated = _REPEATED.search(path)
    # Numbers may be equal by chance: /11/11/11.
    return None if repeated is None or _NUMBER.fullmatch(repeated[1][1:]) else repeated[1]


def _shape_of(address: str, query: str) -> str:
    names = "&".join(parameter.partition("=")[0] for parameter in query.split("&"))
    return f"{_NUMBER.sub('#', address)}?{names}"
