"""Mending of damaged generations, in one transaction for each.

A damaged document is not taken out of the index: it is marked, and the stages prepare and publish it again. The rest
of it stays searchable until that transaction replaces all of it. Vectors and statistics are mended at once, from
the entries.
"""

import logging
from itertools import islice

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.indexing.damage import Damage, compare_sums, find_suspicion, forget_suspicion
from sourcebook.indexing.generations import find_generations
from sourcebook.model.generation import Generation

_log = logging.getLogger("sourcebook.proof")
_MOST_LOGGED = 100
"""Findings of one generation that are logged one by one."""
_RENEWAL = ("renew_average_length", "delete_keyword_blocks", "delete_keyword_weights", "insert_keyword_weights")
_OF_WEIGHTS = ("generation", "lexeme", "keyword")
"""Beginnings of the tables that keyword weights depend on."""


def prove(
    connection: Connection, generation: Generation, *, thorough: bool = False, deep: bool = False, settles: bool = True
) -> int:
    """Compare a generation with its sums, and mend it.

    Where there are signs of foreign changes, every generation that ingests follow is proven; earlier ones are when they
    become active again. Without a sign nothing is compared, except in a thorough run.

    Args:
        connection: in autocommit mode; the caller holds the lock of the collection.
        generation: a generation that ingests follow.
        thorough: whether to compare without any sign, too.
        deep: whether to compute every keyword weight again.
        settles: whether the run compares the whole ledger, so that restored tables are trusted afterwards.

    Returns:
        The number of damaged documents, vectors and numbers.
    """
    collection = generation.collection
    suspicion = find_suspicion(connection, collection)
    if not (suspicion or thorough or deep):
        return 0
    deep = deep or suspicion.is_moved or any(table.startswith(_OF_WEIGHTS) for table in suspicion.tables)
    damaged = 0
    for each in find_generations(connection, collection).followed if suspicion else [generation]:
        damage = mend(connection, each, deep=deep, renew="generation" in suspicion.tables, settles=settles)
        damaged += damage.total
        for finding in islice(damage.findings(), _MOST_LOGGED):
            _log.warning("%s is damaged and is mended: %s", collection, finding, extra={"collection": collection})
    if suspicion:
        connection.execute(queries["distrust_other_generations"], {"collection": collection})
        forget_suspicion(connection, suspicion)
    return damaged


def mend(
    connection: Connection, generation: Generation, *, deep: bool = False, renew: bool = False, settles: bool = True
) -> Damage:
    """Mend a generation, and return its damage.

    Args:
        connection: in autocommit mode; the caller holds the lock of the collection.
        generation: the generation.
        deep: whether to compute every keyword weight again.
        renew: whether the average length may be wrong, with which the weights were computed.
        settles: whether to record that the tables are proven as they are stored now.
    """
    with connection.transaction():
        connection.execute(queries["hold_generation"], {"generation": generation.id})
        damage = compare_sums(connection, generation, deep=deep)
        if damage:
            _mend_documents(connection, generation, damage)
            _mend_vectors(connection, generation, damage)
        if damage or renew:
            _mend_statistics(connection, generation, renew=renew or "average length" in damage.statistics)
            connection.execute(queries["forget_preparation"], {"generation": generation.id})
        if settles:
            connection.execute(queries["record_storage"], {"generation": generation.id})
    return damage


def mend_files(connection: Connection, collection: str) -> int:
    """Let the files be read again whose row in the inventory is not the one that was written; return their number."""
    return connection.execute(queries["distrust_files"], {"collection": collection}).rowcount


def mend_pages(connection: Connection, collection: str, *, every_site: bool) -> None:
    """Let pages be fetched again whose row or content is not the one that was stored.

    Args:
        connection: in autocommit mode.
        collection: name of the collection.
        every_site: whether every site is to be crawled, because rows of pages were changed.
    """
    connection.execute(queries["delete_stray_pages"], {"collection": collection})
    damaged = connection.execute(queries["damaged_pages"], {"collection": collection}).fetchall()
    connection.execute(queries["distrust_pages"], {"collection": collection, "every_site": every_site or bool(damaged)})
    connection.execute(queries["distrust_urls"], {"collection": collection})
    for url, reason in damaged[:_MOST_LOGGED]:
        _log.warning("%s is damaged and is fetched again: %s", url, reason)


def mend_recordings(connection: Connection, collection: str) -> int:
    """Let the recordings be described, and transcribed where need be, whose rows are not those that were written.

    Returns:
        The number of these recordings.
    """
    damaged = connection.execute(queries["damaged_recordings"], {"collection": collection}).fetchall()
    if damaged:
        scope = {"source_ids": [source for source, _, _ in damaged], "uris": [uri for _, uri, _ in damaged]}
        connection.execute(queries["distrust_recordings"], scope)
    for _, uri, reason in damaged[:_MOST_LOGGED]:
        _log.warning("%s is damaged and is made again: %s", uri, reason)
    return len(damaged)


def mend_contents(connection: Connection, collection: str) -> int:
    """Let the documents be made again whose record or parsed content is not the one that was written.

    Returns:
        The number of these documents.
    """
    damaged = connection.execute(queries["damaged_contents"], {"collection": collection}).fetchall()
    if damaged:
        connection.execute(queries["forget_contents"], {"documents": [number for number, _, _ in damaged]})
    for _, uri, reason in damaged[:_MOST_LOGGED]:
        _log.warning("%s is damaged and is made again: %s", uri, reason)
    return len(damaged)


def _mend_documents(connection: Connection, generation: Generation, damage: Damage) -> None:
    live = [document for document in damage.documents if document.is_live]
    others = [document.id for document in damage.documents if not document.is_live]
    scope = {"generation": generation.id, "documents": others}
    connection.execute(queries["delete_stray_entries"], {**scope, "strays": others})
    connection.execute(queries["delete_document_rows"], scope)
    connection.execute(queries["delete_document_chunks"], scope)
    connection.execute(
        queries["mark_damage"],
        {
            "generation": generation.id,
            "documents": [document.id for document in live],
            "reasons": [document.reason for document in live],
        },
    )


def _mend_vectors(connection: Connection, generation: Generation, damage: Damage) -> None:
    if damage.vectors:
        scope = {
            "generation": generation.id,
            "model": generation.model,
            "dimensions": generation.dimensions,
            "texts": list(damage.vectors),
            "damaged": [document.id for document in damage.documents],
        }
        connection.execute(queries["restore_vectors"], scope)
        connection.execute(queries["delete_wrong_vectors"], scope)


def _mend_statistics(connection: Connection, generation: Generation, *, renew: bool) -> None:
    scope = {"generation": generation.id}
    for query in ("recount_lexemes", "recount_configurations", "recount_entries"):
        connection.execute(queries[query], scope)
    if renew:
        for query in _RENEWAL:
            connection.execute(queries[query], scope)
        return
    wrong = connection.execute(queries["wrong_weights"], scope).fetchall()
    blocks = {block for (block,) in connection.execute(queries["wrong_blocks"], scope)}
    blocks |= {block for _, block in wrong if block is not None}
    chunks = {**scope, "chunks": [chunk for chunk, _ in wrong]}
    connection.execute(queries["delete_wrong_weights"], chunks)
    if blocks:
        within = {**scope, "blocks": sorted(blocks)}
        connection.execute(queries["leave_keyword_blocks"], within)
        connection.execute(queries["delete_sparse_keyword_blocks"], within)
    connection.execute(queries["insert_missing_weights"], chunks)
