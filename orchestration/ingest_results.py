"""Results and callbacks of an ingest in this process."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from psycopg import Connection

from resources.pipeline import PIPELINE
from sourcebook.admin.freshness import record_comparison
from sourcebook.admin.pending import Pending
from sourcebook.database.queries import queries
from sourcebook.errors import SourcebookError
from sourcebook.model.selection import Selection

if TYPE_CHECKING:
    from sourcebook.admin.crawl_reports import CrawlNotes

COUNTS = ("added", "changed", "unchanged", "removed", "failed", "seconds")
"""Counts that every asset has."""


class IngestError(SourcebookError):
    """A run failed as a whole; the message names the collection and the reason."""


@dataclass(frozen=True, slots=True)
class IngestedCollection:
    """The result of the ingest of one collection."""

    name: str
    run_id: str | None
    """Id of the Dagster run; None where nothing was pending."""
    assets: dict[str, dict[str, Any]]
    failed_items: int
    """Number of items in a failed state after the run, of this or an earlier run."""
    new_failures: dict[str, str]
    """Reasons by URI of the items that failed in this run and not before it."""
    old_failures: dict[str, str]
    """Reasons by URI of the items that had failed before."""
    pending: Pending = field(repr=False)
    unread_sites: tuple[str, ...] = ()
    """Sites that could not be crawled completely, with the reasons."""
    generation_notes: tuple[str, ...] = ()
    """Sentences on a generation that is built beside the active one."""
    crawl_notes: "CrawlNotes | None" = None
    """Dead links of its sites, and what their lists left out; None where no site was crawled."""
    unmatched: tuple[str, ...] = ()
    """Folders without any file that their patterns match, as sentences."""
    left_out: tuple[str, ...] = ()
    """URLs that the patterns of sites left out, as sentences."""


@dataclass(frozen=True, slots=True)
class IngestEvents:
    """Callbacks of an ingest."""

    waiting: Callable[[str], None] = lambda collection: None
    """Called with a collection that another process is ingesting."""
    started: Callable[[str, Pending], None] = lambda collection, pending: None
    speech_is_busy: Callable[[str], None] = lambda collection: None
    """Called with a collection whose recordings wait for the transcription of another collection."""


def record_whole_comparison(
    connection: Connection, name: str, selection: Selection, settled_parsers: str | None = None
) -> None:
    """Record the comparison of a whole collection; the ingest of a part says nothing about changes elsewhere."""
    if not (selection.documents or selection.sources or selection.only_failed):
        record_comparison(connection, name, behind=False, settled_parsers=settled_parsers)


def nothing_done(connection: Connection, name: str) -> dict[str, dict[str, Any]]:
    """Return the counts of an ingest without changes."""
    row = connection.execute(queries["totals"], {"collection": name}).fetchone()
    unchanged = dict(zip(PIPELINE, row or (0,) * len(PIPELINE), strict=True))
    assets = {asset: {**dict.fromkeys(COUNTS, 0), "unchanged": unchanged[asset]} for asset in PIPELINE}
    assets["embeddings"].update(computed=0, reused=0)
    return assets
