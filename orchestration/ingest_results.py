"""Results and callbacks of an ingest in this process."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from psycopg import Connection

from resources.pipeline import PIPELINE
from sourcebook.admin.freshness import record_comparison
from sourcebook.admin.pending import Pending
from sourcebook.admin.status import failures
from sourcebook.database.queries import queries
from sourcebook.errors import SourcebookError
from sourcebook.indexing.generation_states import generation_notes
from sourcebook.indexing.model_choice import ModelChoice, model_choice
from sourcebook.model.selection import Selection

if TYPE_CHECKING:
    from sourcebook.admin.crawl_reports import CrawlNotes

Counts = dict[str, dict[str, Any]]
"""Counts of a run by asset, each by name; `unchanged` is the number of all other items after the run."""
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
    assets: Counts
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
class StateBefore:
    """State of a collection before an ingest, with which its result compares."""

    failures: dict[str, str]
    """Reasons by URI."""
    choice: ModelChoice | None
    """Choice of the embedding model."""

    @classmethod
    def of(cls, connection: Connection, name: str) -> Self:
        """Return the present state of a collection."""
        return cls(failures(connection, name), model_choice(connection, name))

    def result(
        self,
        connection: Connection,
        name: str,
        pending: Pending,
        run_id: str | None,
        assets: Counts,
        unread_sites: tuple[str, ...] = (),
    ) -> IngestedCollection:
        """Return the result of the ingest that has ended now.

        Args:
            connection: to the knowledge base.
            name: name of the collection.
            pending: what was pending.
            run_id: id of the run; None where none was needed.
            assets: its counts.
            unread_sites: reasons why sites could not be crawled completely.
        """
        after = failures(connection, name)
        crawled = assets["crawled_pages"] if run_id else {}
        return IngestedCollection(
            name,
            run_id,
            assets,
            len(after),
            {uri: reason for uri, reason in after.items() if uri not in self.failures},
            {uri: reason for uri, reason in after.items() if uri in self.failures},
            pending,
            unread_sites,
            notes_on_generations(connection, name, self.choice) if run_id else (),
            _notes_of_crawls(connection, name) if any(crawled.values()) else None,
            reasons(connection, "unmatched_sources", name),
            _left_out(connection, name) if crawled.get("left_out") else (),
        )


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


def nothing_done(connection: Connection, name: str) -> Counts:
    """Return the counts of an ingest without changes."""
    row = connection.execute(queries["totals"], {"collection": name}).fetchone()
    unchanged = dict(zip(PIPELINE, row or (0,) * len(PIPELINE), strict=True))
    assets = {asset: {**dict.fromkeys(COUNTS, 0), "unchanged": unchanged[asset]} for asset in PIPELINE}
    assets["embeddings"].update(computed=0, reused=0)
    return assets


def reasons(connection: Connection, query: str, name: str) -> tuple[str, ...]:
    """Return the reasons that a named query gives for a collection."""
    return tuple(reason for (reason,) in connection.execute(queries[query], {"collection": name}))


def _left_out(connection: Connection, name: str) -> tuple[str, ...]:
    """Return a sentence for each rule that left URLs of the collection's sites out."""
    from sourcebook.web.left_out import LeftOut

    rows = connection.execute(queries["left_out"], {"collection": name}).fetchall()
    return tuple(f"{location}: {LeftOut.of(entry)}" for location, entries in rows for entry in entries)


def notes_on_generations(connection: Connection, name: str, before: ModelChoice | None) -> tuple[str, ...]:
    """Return sentences on the choice of the embedding model, where it was made after `before`, and on what is built."""
    chosen = model_choice(connection, name)
    choice = () if chosen is None or chosen == before else (str(chosen),)
    return (*choice, *generation_notes(connection, name))


def _notes_of_crawls(connection: Connection, name: str) -> "CrawlNotes":
    """Return the dead links of the collection's sites, and what their lists left out."""
    from sourcebook.admin.crawl_reports import crawl_notes  # imports the crawler, which few runs need

    return crawl_notes(connection, name)


def sum_of_counts(earlier: Counts, later: Counts) -> Counts:
    """Return the counts of two runs, one after the other, as those of one.

    Args:
        earlier: counts of the first one.
        later: counts of the following run.
    """
    return {asset: _sum(earlier[asset], counts) for asset, counts in later.items()}


def _sum(earlier: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    summed = {name: earlier.get(name, 0) + later.get(name, 0) for name in {**earlier, **later}}
    made = earlier.get("added", 0) + earlier.get("changed", 0)
    summed["seconds"] = round(summed["seconds"], 3)
    return {**summed, "unchanged": max(later.get("unchanged", 0) - made, 0), "failed": later.get("failed", 0)}
