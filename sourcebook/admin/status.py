"""The state of each collection: counts, failures, sources and stale items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from psycopg import Connection
from psycopg.rows import class_row, dict_row

from sourcebook.admin.collections import check_collections
from sourcebook.admin.model_languages import unknown_languages
from sourcebook.contract.generations import GenerationState
from sourcebook.contract.status import CollectionStatus, Problem, ProcessingItem, SourceStatus
from sourcebook.database.queries import queries
from sourcebook.errors import GoneCollectionError
from sourcebook.indexing.filling import find_filling
from sourcebook.indexing.generation_states import generation_states
from sourcebook.indexing.generations import find_generations
from sourcebook.model.generation import Generation
from sourcebook.model.left_out import NAMES

if TYPE_CHECKING:
    from sourcebook.admin.pending import Pending

_USED_BY = ("collection", "provider", "model", "operation")


def collection_statuses(connection: Connection, names: Sequence[str] = ()) -> list[CollectionStatus]:
    """Return the state of collections; files are compared with the ledger by size and modification time."""
    from sourcebook.admin.pending import find_pending  # imports parsers and the crawler, which the types do not need

    check_collections(connection, names)
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["collection_status"], {"names": list(names)}).fetchall()
    marks = processing_items(connection, names)
    found = []
    for row in rows:
        with suppress(GoneCollectionError):  # it was deleted meanwhile
            found.append(_status(connection, row, marks, find_pending))
    return found


def _status(
    connection: Connection,
    row: dict[str, Any],
    marks: Sequence[ProcessingItem],
    find_pending: Callable[[Connection, str], Pending],
) -> CollectionStatus:
    """Return the state of one collection, whose counts are known."""
    from sourcebook.admin.usage import SHOWN_DAYS, usage  # an ingest takes only the failures of this module

    scope = {"collection": row["name"]}
    uris = problem_uris(connection, row["name"])
    with connection.cursor(row_factory=class_row(Problem)) as cursor:
        problems = cursor.execute(queries["collection_problems"], {**scope, "uris": uris}).fetchall()
    with connection.cursor(row_factory=class_row(SourceStatus)) as cursor:
        sources = cursor.execute(queries["source_listings"], scope).fetchall()
    pending = find_pending(connection, row["name"])
    generations = find_generations(connection, row["name"])
    leaving_out, left_out = left_out_of_documents(connection, row["name"])
    return CollectionStatus(
        **row,
        failed=sum(problem.state == "failed" for problem in problems),
        skipped=sum(problem.state == "skipped" for problem in problems),
        stale=pending.items,
        damaged=pending.damaged,
        damage=pending.damage,
        problems=tuple(problems),
        sources=tuple(sources),
        unlisted=pending.unlisted,
        building=None if generations.building is None else _building(connection, generations.building),
        generation_error=generations.error,
        unknown_languages=unknown_languages(connection, row["name"]),
        lacking=dict(connection.execute(queries["lacking_documents"], scope).fetchall()),
        unread_front_matter=dict(connection.execute(queries["unread_front_matter"], scope).fetchall()),
        processing=tuple(mark for mark in marks if mark.collection == row["name"]),
        usage=tuple(usage(connection, [row["name"]], since=SHOWN_DAYS, by=_USED_BY)),
        leaving_out=leaving_out,
        left_out=left_out,
        filling=find_filling(connection, [row["name"]]).get(row["name"]),
    )


def left_out_of_documents(connection: Connection, collection: str) -> tuple[int, dict[str, int]]:
    """Return the number of documents whose text leaves something out, and the sums of that by kind."""
    scope = {"collection": collection, "kinds": list(NAMES)}
    return connection.execute(queries["left_out_of_documents"], scope).fetchone() or (0, {})


def _building(connection: Connection, generation: Generation) -> GenerationState:
    (state,) = generation_states(connection, generation=generation.id)
    return state


def failures(connection: Connection, collection: str) -> dict[str, str]:
    """Return the reasons of a collection's failed items by URI, and of its unlisted sources by location."""
    scope = {"collection": collection, "uris": problem_uris(connection, collection, skipped=False)}
    problems = connection.execute(queries["collection_problems"], scope)
    return {uri: error or "" for uri, state, error, *_ in problems if state == "failed"}


def problem_uris(connection: Connection, collection: str, *, skipped: bool = True) -> list[str]:
    """Return the URIs of a collection that may have failed or, on request, been skipped."""
    rows = connection.execute(queries["problem_uris"], {"collection": collection, "skipped": skipped})
    return [uri for (uri,) in rows]


def processing_items(connection: Connection, collections: Sequence[str] = ()) -> list[ProcessingItem]:
    """Return the items that living processes work on, ordered by collection and URI."""
    with connection.cursor(row_factory=class_row(ProcessingItem)) as cursor:
        return cursor.execute(queries["processing_items"], {"collections": list(collections)}).fetchall()
