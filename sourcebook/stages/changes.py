"""Change sets: the items and documents that changed since a run settled them, and the kept counts of a collection.

Triggers of the database mark a row in the transaction that changes it, so that a killed process loses no mark. A stage
reads the marks at its start, works on the marked rows alone, and deletes these marks once the rows are settled. All
rows are compared where the rules have changed (parsers, chunking), where a list of the marked rows would be too long,
and in a thorough run.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from psycopg import Connection

from sourcebook.chunking.config_hash import chunking_config_hash
from sourcebook.database.lock import in_turn
from sourcebook.database.queries import queries
from sourcebook.model.generation import Generation
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.model.shard import Shard
from sourcebook.stages.shards import documents_of_shard, holders_of, items_of_shard, settle_preparation, settle_shard

MOST_MARKED = 20_000
"""Marked rows above which a stage compares all rows: a list of so many keys costs more than it saves."""


@dataclass(frozen=True, slots=True)
class ChangedItems:
    """The items of a collection that may differ from their documents."""

    uris: list[str] | None
    """URIs of the items; None: every item."""
    marks: list[int]
    """Ids of the marks that were read."""
    parsers: str
    """Digest of the parsers to compare with."""
    is_whole: bool = False
    """Whether they are all items: of the collection, or of the shard that is worked on."""


@dataclass(frozen=True, slots=True)
class ChangedDocuments:
    """The documents of a generation that may differ from what is published."""

    ids: list[int] | None
    """Ids of the documents; None: every document."""
    marks: list[int]
    """Ids of the marks that were read."""
    is_whole: bool = False
    """Whether they are all documents: of the collection, or of the shard that is worked on."""


def changed_items(
    connection: Connection, collection: str, parsers: Mapping[str, str], selection: Selection = EVERYTHING
) -> ChangedItems:
    """Return the marked items of a collection and those with a failed document that is due for a retry.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        parsers: identity of the parser of each format.
        selection: part of the collection; `force` and `thorough` take every item.
    """
    digest = _digest(f"{name} {identity}" for name, identity in sorted(parsers.items()))
    if selection.shard is not None:
        return ChangedItems(*items_of_shard(connection, selection.shard, digest, selection))
    scope = {"collection": collection}
    marks = connection.execute(queries["marked_items"], scope).fetchall()
    numbers = [number for number, _ in marks]
    row = connection.execute(queries["compared_with"], scope).fetchone()
    is_whole = row is None or row[0] != digest or selection.thorough or selection.force
    if is_whole or len(marks) > MOST_MARKED:
        return ChangedItems(None, numbers, digest, is_whole=True)
    due = connection.execute(queries["failed_documents"], {**scope, "retry_now": selection.only_failed})
    uris = {uri for _, uri in marks} | {uri for (uri,) in due}
    return ChangedItems(sorted(uris | holders_of(uris)), numbers, digest)


def settle_items(connection: Connection, collection: str, changed: ChangedItems, shard: Shard | None = None) -> None:
    """Record that the documents of a collection follow its items, after a run that left none of the items out."""
    if changed.marks:
        connection.execute(queries["forget_item_marks"], {"marks": changed.marks})
    if changed.uris is None:
        connection.execute(queries["record_parsers"], {"collection": collection, "parsers": changed.parsers})
    elif changed.is_whole and shard is not None:
        settle_shard(connection, shard, changed.parsers)


def count_unsettled_items(
    connection: Connection,
    collection: str,
    parsers: Mapping[str, str],
    changed: ChangedItems,
    *,
    retry_now: bool = False,
) -> tuple[int, int, int]:
    """Count differences: items without their document, documents without their item, and taken ones of the first.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        parsers: identity of the parser of each format.
        changed: the items to look at.
        retry_now: whether a failed document differs although its retry is not due.
    """
    if changed.uris == []:
        return 0, 0, 0
    row = connection.execute(
        queries["pending_document_changes"],
        {
            "collection": collection,
            "uris": changed.uris,
            "formats": list(parsers),
            "parsers": list(parsers.values()),
            "retry_now": retry_now,
        },
    ).fetchone()
    unmade, gone, taken = row or (0, 0, 0)
    return int(unmade), int(gone), int(taken)


def changed_documents(
    connection: Connection, generation: Generation, *, thorough: bool = False, shard: Shard | None = None
) -> ChangedDocuments:
    """Return the marked documents of a generation's collection.

    Args:
        connection: to the knowledge base.
        generation: the generation to publish in.
        thorough: whether to take every document.
        shard: the shard whose documents are looked at; None: those of every shard.
    """
    if shard is not None:
        config_hash = chunking_config_hash(generation)
        return ChangedDocuments(*documents_of_shard(connection, shard, generation.id, config_hash, thorough=thorough))
    marks = connection.execute(queries["marked_documents"], {"collection": generation.collection}).fetchall()
    row = connection.execute(queries["prepared_with"], {"generation": generation.id}).fetchone()
    is_whole = thorough or row is None or row[0] != chunking_config_hash(generation) or len(marks) > MOST_MARKED
    ids = None if is_whole else sorted({document for _, document in marks})
    return ChangedDocuments(ids, [number for number, _ in marks], is_whole)


def unsettled_documents(
    connection: Connection, collection: str, generation: Generation | None, ids: list[int] | None
) -> dict[int, str]:
    """Return the documents that are not published in their newest version, and removed ones that still are.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        generation: its active generation; None before its first ingest.
        ids: the documents to look at; None: every document.

    Returns:
        URIs by id.
    """
    rows = connection.execute(
        queries["unsettled_documents"],
        {
            "collection": collection,
            "generation": generation.id if generation else None,
            "config_hash": chunking_config_hash(generation) if generation else "",
            "changed": ids,
        },
    )
    return {int(number): str(uri) for number, uri in rows}


def settle_documents(
    connection: Connection, generation: Generation, changed: ChangedDocuments, shard: Shard | None = None
) -> dict[int, str]:
    """Delete the marks of documents that are published or withdrawn, and return the others: URIs by id.

    Only the active generation deletes marks. Every other generation then compares all documents at its next turn.
    """
    unsettled = unsettled_documents(connection, generation.collection, generation, changed.ids)
    if changed.marks and generation.is_active:
        connection.execute(
            queries["forget_document_marks"],
            {
                "collection": generation.collection,
                "generation": generation.id,
                "marks": changed.marks,
                "unsettled": list(unsettled),
            },
        )
    if changed.ids is None and not unsettled:
        connection.execute(
            queries["record_preparation"],
            {"generation": generation.id, "config_hash": chunking_config_hash(generation)},
        )
    elif changed.is_whole and not unsettled and shard is not None:
        settle_preparation(connection, shard, generation.id, chunking_config_hash(generation))
    return unsettled


def kept_count(
    connection: Connection,
    collection: str,
    kind: str,
    *,
    recount: bool = False,
    fold: bool = True,
    shard: Shard | None = None,
) -> tuple[int, str]:
    """Return the number of live items of a kind, and a version that is equal for equal content.

    Args:
        connection: in autocommit mode.
        collection: name of the collection.
        kind: `raw_files`, `crawled_pages` or `documents`; `removed` for removed documents.
        recount: whether to count all rows, and to keep that count.
        fold: whether to fold the rows of the count into one; the caller holds the lock of the collection.
        shard: the shard that is worked on: the count is the collection's, and two shards never recount at once.
    """
    scope = {"collection": collection, "kind": kind}
    if recount:
        with in_turn(connection, shard, "counts"):
            connection.execute(queries["recount_tally"], scope)
    fold = fold and shard is None
    row = connection.execute(queries["fold_tally" if fold else "read_tally"], scope).fetchone()
    items, digest = row or (0, "0")
    return int(items), version_of(str(items), digest)


def documents_version(connection: Connection, generation: Generation, *others: str) -> str:
    """Return the version of what is made from the documents of a collection alone, by the rules of a generation.

    Args:
        connection: to the knowledge base.
        generation: the rules.
        others: anything else that the content depends on.
    """
    _, version = kept_count(connection, generation.collection, "documents", fold=False)
    return version_of(version, chunking_config_hash(generation), *others)


def version_of(*parts: str) -> str:
    """Return the digest of texts."""
    return _digest(parts)


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
