"""The stage `embeddings`: one vector per distinct text of the chunks that wait to be published.

Reads: `chunk` and `indexed_document`.
Writes: `embedding`, by model and sha256 of the embedded text; `usage`, with each batch what it took.
Stale: a text of an unpublished document for which the model has no vector. A vector never becomes outdated.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import Connection

from sourcebook.database.batches import batched
from sourcebook.database.queries import queries
from sourcebook.database.refusals import Refusal, write_in_halves
from sourcebook.database.stage_runs import refresh_statistics
from sourcebook.database.usage_log import store_uses
from sourcebook.embedding.preparation import shortened_rows
from sourcebook.errors import ModelError
from sourcebook.model.generation import Generation
from sourcebook.model.progress import Progress, silent
from sourcebook.model.report import StageReport
from sourcebook.model.shard import Shard
from sourcebook.model.work import embedding_work
from sourcebook.processes.interrupts import result_of
from sourcebook.stages.changes import changed_documents, documents_version
from sourcebook.stages.observed_stage import observed_stage
from sourcebook.stages.passage_use import PassageUse, reused_vectors
from sourcebook.stages.refused_documents import record_refused
from sourcebook.telemetry.measurements import EMBEDDING_CALLS, EMBEDDING_TEXTS, EMBEDDING_TOKENS, measurements

BATCH = 256
"""Texts per transaction: a crash loses at most two batches of work."""


class SubmittingEmbedder(Protocol):
    """An embedder that computes in the background."""

    def submit(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Return the future of an array of shape (n, dimensions)."""


@observed_stage("embeddings")
def embed_missing(
    reader: Connection,
    writer: Connection,
    generation: Generation,
    start_embedder: Callable[[int], SubmittingEmbedder],
    progress: Progress = silent,
    *,
    thorough: bool = False,
    shard: Shard | None = None,
) -> StageReport:
    """Embed the texts that have no vector, the longest first, and store the vectors by the hash of their text.

    Args:
        reader: a connection that holds a cursor over the texts.
        writer: a second connection, which commits each batch of vectors.
        generation: the generation whose prepared chunks to embed.
        start_embedder: called with the number of missing texts, unless it is 0: then no model is loaded.
        progress: called with (done, total) texts; texts that have a vector already are done at the start.
        thorough: whether to look at every document, not only at changed ones.
        shard: the shard whose documents are looked at; None: those of every shard.

    Raises:
        ModelError: the model cannot be loaded or failed.
    """
    report = StageReport()
    changed = changed_documents(reader, generation, thorough=thorough, shard=shard)
    scope = {"generation": generation.id, "model": generation.model, "changed": changed.ids}
    row = reader.execute(queries["count_embedding_needs"], scope).fetchone()
    needed, present = row or (0, 0)
    missing = needed - present
    report.extra = {"computed": 0, "reused": present}
    report.tokens, report.cost = 0, 0.0
    if present:
        store_uses(writer, [reused_vectors(generation, present)])
    if missing:
        progress(present, needed)
        writer.execute(queries["create_vector_staging"])
        with reader.transaction(), reader.cursor(name="texts_to_embed") as cursor:
            cursor.itersize = BATCH
            cursor.execute(queries["texts_to_embed"], scope)
            _embed(writer, generation, batched(cursor, BATCH), needed, start_embedder(missing), report, progress)
    report.added = report.extra["computed"]
    report.unchanged = present
    row = reader.execute(queries["published_texts"], scope).fetchone()
    refresh_statistics(reader, queries["analyze_embeddings"], report, rows=row[0] if row else 0)
    return report.finish(documents_version(reader, generation, generation.model))


def _embed(
    writer: Connection,
    generation: Generation,
    batches: Iterable[tuple[tuple[bytes, str, int], ...]],
    total: int,
    embedder: SubmittingEmbedder,
    report: StageReport,
    progress: Progress,
) -> None:
    """Store one batch while the next is being computed."""
    dimensions = generation.embedding_settings.dimensions
    waiting: list[tuple[tuple[tuple[bytes, str, int], ...], Future[NDArray[np.float32]]]] = []
    use = PassageUse(generation, embedder)

    def store_oldest() -> None:
        batch, vectors = waiting.pop(0)
        rows = shortened_rows(result_of(vectors), dimensions)
        used = use.of(vectors, len(batch), sum(count for _, _, count in batch))
        texts = list(zip((text_hash for text_hash, _, _ in batch), rows, strict=True))
        _check_model(generation.model, rows, is_first=not report.extra["computed"])
        with writer.transaction():
            _, refused = write_in_halves(writer, texts, partial(_store, writer, generation.model))
            _record_refused(writer, generation, {text_hash: refusal for (text_hash, _), refusal in refused}, report)
            store_uses(writer, [used])
        report.count("computed", len(batch) - len(refused))
        report.work += embedding_work(sum(count for _, _, count in batch))
        measurements.record(EMBEDDING_CALLS, 1, "passages")
        measurements.record(EMBEDDING_TEXTS, len(batch), "passages")
        measurements.record(EMBEDDING_TOKENS, used.tokens or 0, "passages")
        progress(report.extra["reused"] + report.extra["computed"], total)

    try:
        for batch in batches:
            started = time.monotonic()
            waiting.append((batch, embedder.submit([text for _, text, _ in batch])))
            use.watch(started, waiting[-1][1])
            if len(waiting) > 1:
                store_oldest()
        while waiting:
            store_oldest()
    except (ModelError, ArithmeticError):
        if (rest := use.rest()) is not None:  # a service bills what it answered before it failed
            store_uses(writer, [rest])
        raise
    report.tokens, report.cost = use.tokens, use.cost(writer)


def _check_model(model: str, vectors: NDArray[np.float32], *, is_first: bool) -> None:
    """Raise an error where no vector of the first batch is finite; a single one that is not is its text's failure."""
    if is_first and not np.isfinite(vectors).all(axis=1).any():
        message = (
            f"The embedding model {model.partition('/')[0]} returned no vector that is finite: its weights are "
            "damaged. Download them again, or set  embedding.model  to another one."
        )
        raise FloatingPointError(message)


def _store(writer: Connection, model: str, texts: Sequence[tuple[bytes, NDArray[np.float32]]]) -> None:
    with np.errstate(over="ignore"), writer.cursor().copy(queries["copy_vectors"]) as copy:  # the database refuses it
        copy.set_types(["bytea", "halfvec"])
        for text_hash, vector in texts:
            copy.write_row((text_hash, HalfVector(vector)))
    writer.execute(queries["keep_vectors"], {"model": model})


def _record_refused(
    writer: Connection, generation: Generation, refused: Mapping[bytes, Refusal], report: StageReport
) -> None:
    """Record the documents of texts whose vectors the database refuses: those that are not finite, or too long."""
    if refused:
        scope = {"generation": generation.id, "hashes": list(refused)}
        rows = writer.execute(queries["documents_with_texts"], scope).fetchall()
        record_refused(writer, generation, [(document, refused[text_hash]) for text_hash, document in rows], report)
