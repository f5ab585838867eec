"""The stage `search_index`: publication of prepared chunks, and withdrawal of removed documents.

Reads: `chunk` and `indexed_document` as the stage `chunks` prepared them, `embedding`, and `document`.
Writes: `search_entry`, in `indexed_document` the published content, version, title and language, and the indexes of
the generation.
Stale: a document whose newest chunks are embedded but not published, whose version, title or language differs from the
published one, or that was removed.

A document is published in one short transaction: old entries out, new entries in. A crash at any point leaves its old
version searchable, whole. Several documents share a transaction to save round trips.
"""

import logging

from psycopg import Connection

from sourcebook.database.batches import batched
from sourcebook.database.queries import queries
from sourcebook.indexing.indexes import maintain_indexes
from sourcebook.model.generation import Generation
from sourcebook.model.progress import Progress, silent
from sourcebook.model.report import StageReport
from sourcebook.stages.changes import changed_documents, documents_version, settle_documents
from sourcebook.stages.observed_stage import observed_stage

_log = logging.getLogger("sourcebook.stages")

BATCH = 64
"""Documents per transaction."""


@observed_stage("search_index")
def publish(
    connection: Connection, generation: Generation, progress: Progress = silent, *, thorough: bool = False
) -> StageReport:
    """Publish the ready documents of a generation and withdraw removed ones; the report counts entries.

    Args:
        connection: in autocommit mode.
        generation: the generation to publish in.
        progress: called with (done, total) documents.
        thorough: whether to look at every document, not only at changed ones.
    """
    report = StageReport()
    changed = changed_documents(connection, generation, thorough=thorough)
    scope = {"generation": generation.id, "model": generation.model, "changed": changed.ids}
    report.removed = withdraw(connection, generation, changed.ids)
    waiting = connection.execute(queries["documents_to_publish"], scope).fetchall()
    done = 0
    for batch in batched(waiting, BATCH):
        _publish(connection, generation, batch, report)
        _log.debug("published %d documents", len(batch), extra={"documents": [number for number, _ in batch]})
        done += len(batch)
        progress(done, len(waiting))
    after = _count(connection, generation)
    report.unchanged = after - report.added - report.changed
    if waiting or report.removed:
        report.count("documents", len(waiting))
        maintain_indexes(connection, generation, entries=after, moved=report.added + report.changed + report.removed)
    if thorough:
        connection.execute(queries["recount_texts"], {"generation": generation.id})
    unpublished = settle_documents(connection, generation, changed)
    version = documents_version(connection, generation, generation.model, *unpublished.values())
    return report.finish(version)


def withdraw(connection: Connection, generation: Generation, documents: list[int] | None) -> int:
    """Delete the entries of removed documents; return the number of entries.

    Args:
        connection: to the knowledge base.
        generation: the generation of the entries.
        documents: ids of the documents to look at; None: every document.
    """
    scope = {"generation": generation.id, "changed": documents}
    with connection.transaction():
        gone = connection.execute(queries["withdraw_removed_documents"], scope).fetchall()
        replaced = [chunk for chunk, newest in gone if not newest]
        if replaced:
            connection.execute(queries["delete_chunks"], {"chunks": replaced})
    return len(gone)


def _publish(
    connection: Connection, generation: Generation, batch: tuple[tuple[int, bool], ...], report: StageReport
) -> None:
    every = {"generation": generation.id, "model": generation.model, "documents": [number for number, _ in batch]}
    cut = {**every, "documents": [number for number, new_chunks in batch if new_chunks]}
    with connection.transaction():
        if cut["documents"]:
            kept = [row[0] for row in connection.execute(queries["keep_chunks"], cut)]
            replaced = [row[0] for row in connection.execute(queries["delete_replaced_entries"], {**cut, "kept": kept})]
            connection.execute(queries["delete_chunks"], {"chunks": replaced})
            report.removed += len(replaced)
        report.changed += connection.execute(queries["refresh_entry_lexemes"], every).rowcount
        if cut["documents"]:
            report.added += connection.execute(queries["insert_entries"], cut).rowcount
        connection.execute(queries["record_published_documents"], every)


def _count(connection: Connection, generation: Generation) -> int:
    row = connection.execute(queries["count_entries"], {"generation": generation.id}).fetchone()
    return int(row[0]) if row else 0
