"""Reports on the crawls of sites, from the ledger."""

from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import class_row, dict_row

from sourcebook.admin.collections import check_collections
from sourcebook.config.sites import site_location
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.model.plain_values import PlainValues
from sourcebook.model.selection import Selection
from sourcebook.web.crawl_report import CrawledUrl, CrawlReport, DeadLink, report_of
from sourcebook.web.discovery import Discovery, unrequested_links
from sourcebook.web.left_out import LeftOut
from sourcebook.web.site import Site, collection_sites
from sourcebook.web.url import normal_form


@dataclass(frozen=True, slots=True)
class CrawlNotes(PlainValues):
    """Findings of the crawls of a collection's sites that people may mend, at the site or in the settings."""

    dead_links: tuple[DeadLink, ...] = ()
    notices: tuple[str, ...] = ()
    """Sentences on sites that have more than `max_pages`, and on lists whose lists or URLs were not all taken."""


def crawl_notes(connection: Connection, collection: str) -> CrawlNotes:
    """Return the dead links of a collection's sites with their referrers, and what its limits and lists left out."""
    scope = {"collection": collection}
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["dead_links"], scope).fetchall()
    dead = tuple(DeadLink(row["url"], row["reason"], tuple(row["referrers"])) for row in rows)
    return CrawlNotes(dead, tuple(notice for (notice,) in connection.execute(queries["crawl_notices"], scope)))


def crawl_reports(connection: Connection, collections: list[str], location: str | None = None) -> list[CrawlReport]:
    """Return the reports on sites after their last crawl, as far as the ledger knows.

    Args:
        connection: to the knowledge base.
        collections: names; every collection where empty.
        location: URL of one site; every site where None.

    Raises:
        QueryError: a collection does not exist, or no site has the location.
    """
    check_collections(connection, collections)
    names = collections or [name for (name,) in connection.execute(queries["collections"])]
    sources = () if location is None else (site_location(location),)
    reports = [
        report
        for name in names
        for site in collection_sites(connection, name, Selection(sources=sources))
        if (report := _report(connection, name, site)) is not None
    ]
    if location is not None and not reports:
        raise QueryError(f"no collection has a site {location}")
    return reports


def _report(connection: Connection, collection: str, site: Site) -> CrawlReport | None:
    start = normal_form(site.settings.url)
    scope = {"source_id": site.id, "start": start}
    if start is None:
        return None
    with connection.cursor(row_factory=class_row(CrawledUrl)) as cursor:
        urls = cursor.execute(queries["crawled_urls"], scope).fetchall()
    discovery = Discovery(site.settings, start, follow_links=site.settings.follow_links is not False)
    discovery.recall(connection.execute(queries["start_urls"], scope).fetchall())
    error, left_out = connection.execute(queries["crawl_end"], scope).fetchone() or (None, [])
    by_patterns = [LeftOut.of(entry) for entry in left_out]
    return report_of(
        urls,
        url=site.location,
        collection=collection,
        error=error,
        left_out=unrequested_links(urls, discovery, by_patterns),
    )
