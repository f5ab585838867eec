"""Parts of a site without end: recognised by repetition, and by limits on pages that differ only in numbers.

Ordinary paths are not limited, so that `/posts/12345` and `/2024/05/12/a-title` are taken however many there are. The
length of a URL is limited by its normal form, see `sourcebook.web.url.LONGEST_URL`.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime

DEEPEST_PATH = 20
"""Parts of a path. Documentation generated from code reaches 12 to 15; a relative link gone wrong has no end."""
CALENDAR_PAGES = 300
"""Pages of one calendar: 25 years of months, or most of a year of days around today."""
QUERY_PAGES = 1000
"""Pages of one path that differ in their parameters only; each one that had new content allows one more."""
KNOWN_CONTENT = 50
"""Pages of one shape with content already known that make it a trap, where new content is rarer than one in five."""

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
    """What is known of the URLs that are alike but for their numbers and the values of their parameters."""

    admitted: set[int] = field(default_factory=set)
    new: int = 0
    known: int = 0


class TrapGuard:
    """Tells traps from pages during one crawl; knows nothing of the crawls before.

    Asked again about a URL it let through, it does so again, unless the content of its like turned out to be known.
    """

    def __init__(self, this_year: int | None = None) -> None:
        """Begin with nothing seen.

        Args:
            this_year: years well after it, or long before, are a calendar's; by default the year it is.
        """
        self._last_year = (this_year or datetime.now(UTC).year) + 1
        self._shapes: defaultdict[str, _Shape] = defaultdict(_Shape)

    def refusal(self, url: str) -> str | None:
        """Return why a link is not followed, None where it may be.

        Meant for links: what a sitemap or a person names is no trap.

        Args:
            url: in normal form.
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
        """Note what fetching a URL brought.

        Args:
            url: in normal form.
            duplicate: whether another URL had the same content.
        """
        address, _, query = url.partition("?")
        if not query and not _NUMBER.search(address):
            return  # nothing is like it
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
        # Archives have dates too, but they end today, and one with days that long ago is no archive.
        day = _DAY.search(path)
        return day is not None and not _FIRST_YEAR <= int(day[1]) <= self._last_year


def _repetition(path: str) -> str | None:
    parts = path.split("/")
    if len(parts) - len(set(parts)) < 2:
        return None
    repeated = _REPEATED.search(path)
    # Numbers may be alike by chance: /11/11/11.
    return None if repeated is None or _NUMBER.fullmatch(repeated[1][1:]) else repeated[1]


def _shape_of(address: str, query: str) -> str:
    names = "&".join(parameter.partition("=")[0] for parameter in query.split("&"))
    return f"{_NUMBER.sub('#', address)}?{names}"
