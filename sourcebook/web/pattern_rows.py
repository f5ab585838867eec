"""Rows that the patterns of a site write: tags of pages, and counts of the URLs that they leave out."""

from dataclasses import asdict

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.database.batches import batched
from sourcebook.database.queries import queries
from sourcebook.web.discovery import Discovery
from sourcebook.web.site import Site

BATCH = 5000
"""Pages per statement."""


def renew_page_tags(connection: Connection, site: Site) -> None:
    """Give every stored page of a site the tags that the patterns of its settings give it."""
    scope = {"source_id": site.id}
    rows = connection.execute(queries["page_tags"], scope).fetchall()
    wanted = [(url, before, site.tags_of(url)) for url, before in rows]
    for batch in batched([(url, given) for url, before, given in wanted if before != given], BATCH):
        urls, tags = [url for url, _ in batch], Jsonb([given for _, given in batch])
        connection.execute(queries["tag_pages"], {**scope, "urls": urls, "tags": tags})


def record_left_out(connection: Connection, site: Site, discovery: Discovery) -> int:
    """Record the URLs that the patterns leave out, of every stored page and of the lists of this round.

    Returns:
        The number of URLs.
    """
    scope = {"source_id": site.id}
    if discovery.follow_links and discovery.scope.has_patterns:
        with connection.transaction(), connection.cursor(name="distinct_links") as cursor:
            cursor.execute(queries["distinct_links"], scope)
            discovery.note_links(link for (link,) in cursor)
    found = discovery.left_out.found()
    left_out = Jsonb([asdict(entry) for entry in found])
    connection.execute(queries["record_left_out"], {**scope, "left_out": left_out})
    return sum(entry.urls for entry in found)
