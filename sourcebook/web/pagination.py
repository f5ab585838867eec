"""Pages of one list: a link to the next of them leads no deeper into a site."""

import re
from collections.abc import Iterable

# fmt: off
_PARAMETERS = frozenset(
    {"page", "p", "pg", "paged", "pagenum", "page_number", "pageno", "offset", "start", "from", "skip", "seite",
     "pagina", "página", "sida", "side", "strana", "strona", "страница", "cursor", "after"}
)
# fmt: on
"""Parameters of the query that number the pages of a list."""
_NUMBER = re.compile(r"\d{1,9}")
_NUMBERED = re.compile(r"[/_-](?:page|p|seite|pagina|página|side|strana)[/_-]?2/?\Z", re.IGNORECASE)
"""Text that the second page of a list adds to the path of the first one."""


def continues(page: str, link: str, named: Iterable[str] = ()) -> bool:
    """Return whether a link leads to another page of the same list.

    Args:
        page: URL of the page, in normal form.
        link: URL of the link, in normal form.
        named: links that the page calls its next one.
    """
    address, _, query = page.partition("?")
    other, _, other_query = link.partition("?")
    if link in named:
        return True
    if address == other:
        return _differs_by_page(query, other_query)
    if query != other_query:
        return False
    if _NUMBER.sub("#", address) != _NUMBER.sub("#", other):
        return other.startswith(address.rstrip("/")) and bool(_NUMBERED.fullmatch(other[len(address.rstrip("/")) :]))
    pairs = zip(_NUMBER.findall(address), _NUMBER.findall(other), strict=True)
    steps = [int(after) - int(before) for before, after in pairs if before != after]
    return steps == [1]


def _differs_by_page(query: str, other: str) -> bool:
    """Return whether two queries differ in nothing but the number of the page."""
    parameters, others = ({*each.split("&")} - {""} for each in (query, other))
    new = others - parameters
    old = parameters - others
    names = {each.partition("=")[0].lower() for each in new | old}
    return len(new) == 1 and len(old) <= 1 and len(names) == 1 and names <= _PARAMETERS
