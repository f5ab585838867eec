"""The stage `search_index`: publication of prepared chunks, and withdrawal of removed documents.

Reads: `chunk` and `indexed_document` as the stage `chunks` prepared them, `embedding`, and `document`.
Writes: `search_entry`, in `indexed_document` the published content, version, title and language, and the indexes of
the generation.
Stale: a document whose newest chunks are embedded but not published, whose version, title or language differs from the
published one, or that was removed.

A document is published in one short transaction: old entries out, new entries in. A crash at any point leaves its old
version searchable, whole. Several documents share a transaction to save round trips. The first documents of a
generation that is built beside the active one share one transaction, whose statistics are counted once.

The HNSW index costs a small publication more than all else, and more the larger it is. So the entries of few documents
are published outside it, where searches compare them exactly, and the stage `index_upkeep` enters them.
"""

import logging
from collections.abc import Sequence
from functools import partial
from operator import add

from psycopg import Connection, sql

from sourcebook.database.batches import batched
from sourcebook.database.lock import in_turn
from sourcebook.database.queries import queries
from sourcebook.database.refusals import write_in_halves
from sourcebook.indexing.first_entries import count_statistics, is_unused
from sourcebook.indexing.generations import other_generations
from sourcebook.indexing.graphs import has_vector_index, maintain_indexes
from sourcebook.model.generation import Generation
from sourcebook.model.progress import Progress, silent
from sourcebook.model.report import StageReport
from sourcebook.model.shard import Shard
from sourcebook.model.work import publishing_work
from sourcebook.stages.changes import changed_documents, documents_version, settle_documents
from sourcebook.stages.ingest_redaction import forget_unheld_lexemes
from sourcebook.stages.observed_stage import observed_stage
from sourcebook.stages.refused_documents import record_refused

_log = logging.getLogger("sourcebook.stages")

BATCH = 64
"""Documents per transaction, and the most that are published outside the HNSW index."""
FIRST_BATCH = 1_000
"""Documents per statement where a generation that nobody searches gets its first entries."""

_Waiting = tuple[int, bool, bool]
"""A document, whether it has new chunks, and whether its title or language is another one than published."""


@observed_stage("search_index")
def publish(
    connection: Connection,
    generation: Generation,
    progress: Progress = silent,
    *,
    thorough: bool = False,
    shard: Shard | None = None,
) -> StageReport:
    """Publish the ready documents of a generation and withdraw removed ones; the report counts entries.

    Args:
        connection: in autocommit mode.
        generation: the generation to publish in.
        progress: called with (done, total) documents.
        thorough: whether to look at every document, not only at changed ones.
        shard: the shard whose documents are published, beside workers that publish those of others; None: every shard.
            The first documents of a generation that nobody searches are left to the end of the last shard.
    """
    report = StageReport()
    changed = changed_documents(connection, generation, thorough=thorough, shard=shard)
    scope = {"generation": generation.id, "model": generation.model, "changed": changed.ids}
    if generation.is_active:  # so that no removed document returns with an earlier generation
        for other in other_generations(connection, generation.collection, generation):
            withdraw(connection, other, changed.ids)
    report.removed = withdraw(connection, generation, changed.ids)
    waiting = connection.execute(queries["documents_to_publish"], scope).fetchall()
    is_first = not generation.is_active and is_unused(connection, generation)
    if is_first and shard is not None:
        return report.finish(documents_version(connection, generation, generation.model))
    if len(waiting) > BATCH and is_first:
        _publish_first(connection, generation, waiting, report, progress)
    else:
        _publish_in_turn(connection, generation, waiting, report, progress)
    after = _count(connection, generation)
    report.work = publishing_work(report.added + report.changed)
    report.unchanged = after - report.added - report.changed
    if waiting or report.removed:
        report.count("documents", len(waiting))
        with in_turn(connection, shard, "indexes"):
            forget_unheld_lexemes(connection, generation)
            moved = report.added + report.changed + report.removed
            maintain_indexes(connection, generation, entries=after, moved=moved)
    if thorough and shard is None:
        connection.execute(queries["recount_texts"], {"generation": generation.id})
    unpublished = settle_documents(connection, generation, changed, shard)
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


def _publish_in_turn(
    connection: Connection, generation: Generation, waiting: Sequence[_Waiting], report: StageReport, progress: Progress
) -> None:
    in_graph = len(waiting) > BATCH or not has_vector_index(connection, generation)
    done = 0
    for batch in batched(waiting, BATCH):
        published, refused = write_in_halves(
            connection, batch, partial(_publish, connection, generation, in_graph=in_graph)
        )
        record_refused(connection, generation, [(number, refusal) for (number, *_), refusal in refused], report)
        for counts in published:
            report.added, report.changed, report.removed = map(
                add, (report.added, report.changed, report.removed), counts
            )
        _log.debug("published %d documents", len(batch), extra={"documents": [number for number, *_ in batch]})
        done += len(batch)
        progress(done, len(waiting))


def _publish_first(
    connection: Connection, generation: Generation, waiting: Sequence[_Waiting], report: StageReport, progress: Progress
) -> None:
    """Publish the first documents of a generation that nobody searches, in one transaction."""
    statement = queries["insert_entries"].format(table=generation.partition)
    done = 0

    def insert(batch: Sequence[_Waiting]) -> int:
        numbers = [number for number, *_ in batch]
        scope = {"generation": generation.id, "model": generation.model, "documents": numbers, "in_graph": True}
        added = connection.execute(statement, scope).rowcount
        connection.execute(queries["record_published_documents"], scope)
        return added

    with connection.transaction():
        connection.execute(queries["hold_generation"], {"generation": generation.id})
        for batch in batched(waiting, FIRST_BATCH):
            added, refused = write_in_halves(connection, batch, insert)
            record_refused(connection, generation, [(number, refusal) for (number, *_), refusal in refused], report)
            report.added += sum(added)
            done += len(batch)
            progress(done, len(waiting))
        count_statistics(connection, generation)


def _publish(
    connection: Connection, generation: Generation, batch: Sequence[_Waiting], *, in_graph: bool
) -> tuple[int, int, int]:
    """Publish some documents, in a transaction; return the numbers of entries added, changed and removed."""
    added = changed = removed = 0
    every = {
        "generation": generation.id,
        "model": generation.model,
        "documents": [number for number, *_ in batch],
        "in_graph": in_graph,
    }
    cut = {**every, "documents": [number for number, has_new_chunks, _ in batch if has_new_chunks]}
    renamed = {**every, "documents": [number for number, _, is_renamed in batch if is_renamed]}
    if cut["documents"]:
        kept = [row[0] for row in connection.execute(queries["keep_chunks"], cut)]
        replaced = [row[0] for row in connection.execute(queries["delete_replaced_entries"], {**cut, "kept": kept})]
        if replaced:
            connection.execute(queries["delete_chunks"], {"chunks": replaced})
        removed = len(replaced)
    if renamed["documents"]:
        changed = connection.execute(queries["refresh_entry_lexemes"], renamed).rowcount
    if cut["documents"]:
        insert = queries["insert_entries"].format(table=sql.Identifier("search_entry"))
        added = connection.execute(insert, cut).rowcount
    connection.execute(queries["record_published_documents"], every)
    return added, changed, removed


def _count(connection: Connection, generation: Generation) -> int:
    row = connection.execute(queries["count_entries"], {"generation": generation.id}).fetchone()
    return int(row[0]) if row else 0
