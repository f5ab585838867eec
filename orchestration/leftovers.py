"""Failures and notices that an ingest leaves in a collection."""

from typing import TYPE_CHECKING

from psycopg import Connection

from sourcebook.admin.status import failures
from sourcebook.database.queries import queries
from sourcebook.indexing.generation_states import generation_notes
from sourcebook.indexing.model_choice import ModelChoice, model_choice
from sourcebook.web.left_out import LeftOut

if TYPE_CHECKING:
    from sourcebook.admin.crawl_reports import CrawlNotes


def failures_since(
    connection: Connection, name: str, before: dict[str, str]
) -> tuple[int, dict[str, str], dict[str, str]]:
    """Return the number of failures, the new ones, and those that there were before."""
    after = failures(connection, name)
    new = {uri: reason for uri, reason in after.items() if uri not in before}
    return len(after), new, {uri: reason for uri, reason in after.items() if uri in before}


def reasons(connection: Connection, query: str, name: str) -> tuple[str, ...]:
    """Return the reasons that a named query gives for a collection."""
    return tuple(reason for (reason,) in connection.execute(queries[query], {"collection": name}))


def left_out(connection: Connection, name: str) -> tuple[str, ...]:
    """Return a sentence for each rule that left URLs of the collection's sites out."""
    rows = connection.execute(queries["left_out"], {"collection": name}).fetchall()
    return tuple(f"{location}: {LeftOut.of(entry)}" for location, entries in rows for entry in entries)


def notes_on_generations(connection: Connection, name: str, before: ModelChoice | None) -> tuple[str, ...]:
    """Return sentences on the choice of the embedding model, where it was made after `before`, and on what is built."""
    chosen = model_choice(connection, name)
    choice = () if chosen is None or chosen == before else (str(chosen),)
    return (*choice, *generation_notes(connection, name))


def notes_of_crawls(connection: Connection, name: str) -> "CrawlNotes":
    """Return the dead links of the collection's sites, and what their lists left out."""
    from sourcebook.admin.crawl_reports import crawl_notes  # imports the crawler, which few runs need

    return crawl_notes(connection, name)
