"""Canonical links, as the hints that they are: which of them a page's text bears out, and what falls to which page.

A page is no document where it names another one as canonical. Sites name their home page on every page, or the newest
version on every old one: the page would be lost with all that only it says. So its text is compared with the other's.
"""

import re

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.web.left_out import LeftOut
from sourcebook.web.site import Site

ALIKE = 0.9
"""Share of a page's runs of words that its canonical page has, from which this one says the same."""
_RUN = 3
_WORD = re.compile(r"\d+|[^\W\d_]+")


def says_the_same(text: str, canonical: str) -> bool:
    """Return whether a canonical page says what a page says: nearly all of its runs of three words, and every number.

    Versions and regions of a page often differ by nothing but a number.
    """
    words, others = (_WORD.findall(each.casefold()) for each in (text, canonical))
    if not {word for word in words if word.isdigit()} <= {*others}:
        return False
    runs = _runs(words)
    return len(runs & _runs(others)) >= ALIKE * len(runs)


def _runs(words: list[str]) -> set[tuple[str, ...]]:
    return set(zip(*(words[start:] for start in range(_RUN)), strict=False)) if len(words) >= _RUN else {(*words,)}


def compare_canonicals(connection: Connection, site: Site, starts: set[str]) -> None:
    """Forget the canonical links of stored pages that say something else than the page that they name.

    A start of the site is asked for by name and stays a document of its own.

    Args:
        connection: in autocommit mode.
        site: the site; nothing is compared where its setting `canonical` trusts every link.
        starts: URLs of the site's start.
    """
    scope = {"source_id": site.id}
    forgotten = set(starts)
    if site.settings.canonical == "compare":
        with connection.transaction(), connection.cursor(name="named_canonicals") as cursor:
            cursor.execute(queries["named_canonicals"], scope)
            forgotten |= {url for url, text, canonical in cursor if not says_the_same(text or "", canonical or "")}
    connection.execute(queries["forget_canonicals"], {**scope, "urls": [*forgotten]})


def canonical_pages(connection: Connection, site: Site) -> list[LeftOut]:
    """Return how many pages are no documents because of which canonical page."""
    rows = connection.execute(queries["canonical_pages"], {"source_id": site.id}).fetchall()
    return [LeftOut("canonical", url, pages, tuple(examples)) for url, pages, examples in rows]
