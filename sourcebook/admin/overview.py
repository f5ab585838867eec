"""An overview of collections by what is kept of them: no source is listed, and no document counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final
from urllib.parse import unquote

from psycopg import Connection
from psycopg.rows import class_row, dict_row

from sourcebook.admin.redacted_documents import redact_titles
from sourcebook.admin.status import problem_uris, processing_items
from sourcebook.admin.summaries import collection_summaries
from sourcebook.admin.uploads import list_versions
from sourcebook.contract.collections import CollectionSummary
from sourcebook.contract.documents import DocumentHistory, Item
from sourcebook.contract.uploads import Upload
from sourcebook.database.queries import queries

_UPLOADS: Final = "upload://"
_LATEST: Final = 10_000
"""Documents that choices and titles are taken from, at most: a page that is looked at reads no whole collection."""
_MOST_CHOICES: Final = 50
_MOST_TITLES: Final = 5


@dataclass(frozen=True, slots=True)
class KeptGeneration:
    """A generation by its kept counts."""

    id: int
    collection: str
    model: str
    dimensions: int
    passages: int
    created_at: datetime
    failure: str | None
    """Reason why its passages cannot be cut or embedded now."""
    state: str
    """`active`, `building`, `kept`, or `surplus` while it is deleted."""


@dataclass(frozen=True, slots=True)
class KeptSource:
    """A source as it was listed last."""

    collection: str
    kind: str
    """`files` or `site`; `collection` for a membership rule."""
    location: str
    listed_at: datetime | None
    listing_error: str | None
    next_look_at: datetime | None
    """Time of the next look at a site, a repository or records; None for others, and before the first look."""


@dataclass(frozen=True, slots=True)
class CollectionOverview:
    """The contents of a collection, and what waits for the next ingest as far as it is known."""

    summary: CollectionSummary
    problems: int
    """Number of items that may have failed or been skipped."""
    waiting_items: int
    """Number of files and pages whose change is known and not taken in."""
    waiting_documents: int
    """Number of documents whose change is not searchable yet."""
    processing: int
    """Number of items that a process works on now."""
    compared_at: datetime | None
    """Time of the last comparison with the sources; None where there was none."""
    behind_since: datetime | None
    """Time since which the oldest change waits; None where none was found."""
    generations: tuple[KeptGeneration, ...]
    sources: tuple[KeptSource, ...]


@dataclass(frozen=True, slots=True)
class Growth:
    """Changes of the numbers of documents and passages of a collection on one day."""

    day: date
    """Day in UTC."""
    documents: int
    passages: int


def collection_growth(connection: Connection, names: Sequence[str]) -> list[Growth]:
    """Return what the documents that are kept say of how collections grew, the earliest day first.

    A document counts from the day on which it came, its passages as well; a removed one, as long as it is kept, until
    the day on which it went.
    """
    with connection.cursor(row_factory=class_row(Growth)) as cursor:
        return cursor.execute(queries["collection_growth"], {"names": list(names)}).fetchall()


def collection_overviews(connection: Connection, names: Sequence[str]) -> list[CollectionOverview]:
    """Return the overviews of collections, in alphabetical order."""
    if not names:
        return []
    scope = {"names": list(names)}
    with connection.cursor(row_factory=class_row(KeptGeneration)) as cursor:
        generations = cursor.execute(queries["kept_generations"], scope).fetchall()
    with connection.cursor(row_factory=class_row(KeptSource)) as cursor:
        sources = cursor.execute(queries["kept_sources"], scope).fetchall()
    with connection.cursor(row_factory=dict_row) as cursor:
        progress = {row["name"]: row for row in cursor.execute(queries["collection_progress"], scope)}
    worked_on = processing_items(connection, names)
    return [
        CollectionOverview(
            summary=summary,
            problems=len(problem_uris(connection, summary.name)),
            waiting_items=progress[summary.name]["waiting_items"],
            waiting_documents=progress[summary.name]["waiting_documents"],
            processing=sum(item.collection == summary.name for item in worked_on),
            compared_at=progress[summary.name]["compared_at"],
            behind_since=progress[summary.name]["behind_since"],
            generations=tuple(each for each in generations if each.collection == summary.name),
            sources=tuple(each for each in sources if each.collection == summary.name),
        )
        for summary in collection_summaries(connection, names)
        if summary.name in progress
    ]


def document_choices(connection: Connection, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return values of facets of the latest documents with their numbers, in alphabetical order."""
    found: dict[str, dict[str, int]] = {name: {} for name in ("kind", "type", "media_type", "language", "tag")}
    values = {"names": list(names), "latest": _LATEST, "most": _MOST_CHOICES}
    for name, value, documents in connection.execute(queries["document_choices"], values):
        found[name][value] = documents
    return found


def titles_with(connection: Connection, names: Sequence[str], text: str) -> list[tuple[int, str]]:
    """Return ids and titles, redacted where the collection asks for it, of documents with a text in their title."""
    if "\0" in text:
        return []
    values = {"names": list(names), "latest": _LATEST, "most": _MOST_TITLES, "text": text}
    found = connection.execute(queries["titles_with"], values).fetchall()
    titles = redact_titles(connection, [(collection, document, title) for document, collection, title in found])
    return [(document, title) for (document, *_), title in zip(found, titles, strict=True) if title]


def document_history(connection: Connection, document: int) -> DocumentHistory | None:
    """Return the history of a document; None where there is no such document."""
    with connection.cursor(row_factory=class_row(DocumentHistory)) as cursor:
        return cursor.execute(queries["document_history"], {"document": document}).fetchone()


def uploaded_versions(connection: Connection, item: Item) -> list[Upload]:
    """Return the versions of the upload that a document is, the newest first; none where it is no upload."""
    if not item.uri.startswith(_UPLOADS):
        return []
    name = unquote(item.uri.removeprefix(_UPLOADS).partition("/")[2])
    versions = list_versions(connection, item.collection, name)
    return versions if versions and versions[0].uri == item.uri else []  # otherwise it is taken from others' uploads
