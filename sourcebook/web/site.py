"""Web sites of a collection, as stored in `source`, and their URLs that are due."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.config.html_part import HtmlPart
from sourcebook.config.sites import SiteSource
from sourcebook.database.queries import queries
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.redaction.ingestion import ingest_identity
from sourcebook.web.site_scope import path_matches

_DECIDES_WHAT_BELONGS = ("url", "max_depth", "include", "exclude", "follow_links", "scope")
_DECIDES_WHERE_SET = ("follow", "keep", "path_tags", "browser")


@dataclass(frozen=True, slots=True)
class Site:
    """A site and the state of its crawl."""

    id: int
    location: str
    settings: SiteSource
    crawl_started_at: datetime | None
    """Start of the unfinished crawl, None where there is none."""
    crawl_scope: str | None
    """`scope_digest` of the settings at the start of the last crawl; empty where others changed the frontier since."""
    due: bool
    """Whether its refresh interval, or the pause of its crawl, has passed."""

    keep: HtmlPart
    """Part of its HTML pages that is kept."""
    collection: str = ""
    removals: Mapping[str, Any] | None = None
    """Settings of its collection's guard against emptying, as the database holds them."""
    is_held: bool = False
    """Whether the loss of many of its pages is held back."""
    redaction: Mapping[str, Any] | None = None
    """Settings of redaction of its collection, as the database holds them."""

    @property
    def redaction_identity(self) -> str:
        """Identity of the rules by which its pages are stored with placeholders; empty where they are stored whole."""
        return ingest_identity(self.redaction)

    @property
    def is_changed_by_others(self) -> bool:
        """Whether a statement that is not the library's has changed the URLs of the site."""
        return self.crawl_scope == ""

    @property
    def scope_digest(self) -> str:
        """Identity of the settings that decide which URLs belong to the site, what its pages hold, and their tags."""
        settings = self.settings.model_dump(mode="json", include={*_DECIDES_WHAT_BELONGS, *_DECIDES_WHERE_SET})
        settings = {name: value for name, value in settings.items() if value or name not in _DECIDES_WHERE_SET}
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:32]

    def tags_of(self, url: str) -> list[str]:
        """Return the tags that the patterns of `path_tags` give a page, without those of the whole site."""
        found = (tag for pattern, tags in self.settings.path_tags.items() if path_matches(url, pattern) for tag in tags)
        return [tag for tag in dict.fromkeys(found) if tag not in self.settings.tags]


def collection_sites(connection: Connection, collection: str, selection: Selection = EVERYTHING) -> list[Site]:
    """Return the live sites of a collection, or those the selection names."""
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            queries["sites"], {"collection": collection, "locations": list(selection.sources)}
        ).fetchall()
    return [Site(settings=SiteSource.model_validate(row.pop("settings")), **row) for row in rows]
