"""Web sites of a collection, as stored in `source`."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.config.parsing import HtmlPart
from sourcebook.config.sites import SiteSource
from sourcebook.database.queries import queries
from sourcebook.model.selection import EVERYTHING, Selection

_DECIDES_WHAT_BELONGS = ("url", "max_depth", "include", "exclude", "follow_links", "scope")


@dataclass(frozen=True, slots=True)
class Site:
    """A site and the state of its crawl."""

    id: int
    location: str
    settings: SiteSource
    crawl_started_at: datetime | None
    """Start of the unfinished crawl, None where there is none."""
    crawl_scope: str | None
    """`scope_digest` of the settings at the start of the last crawl."""
    due: bool
    """Whether its refresh interval, or the pause of its crawl, has passed."""

    keep: HtmlPart
    """Part of its HTML pages that is kept."""

    @property
    def scope_digest(self) -> str:
        """Identity of the settings that decide which URLs belong to the site."""
        settings = self.settings.model_dump(mode="json", include=set(_DECIDES_WHAT_BELONGS))
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:32]


def collection_sites(connection: Connection, collection: str, selection: Selection = EVERYTHING) -> list[Site]:
    """Return the live sites of a collection, or those the selection names."""
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            queries["sites"], {"collection": collection, "locations": list(selection.sources)}
        ).fetchall()
    return [Site(settings=SiteSource.model_validate(row.pop("settings")), **row) for row in rows]
