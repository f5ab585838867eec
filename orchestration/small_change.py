"""A small change: the stages run in this process without Dagster, and the run is recorded when they are done."""

from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.admin.pending import Pending
from sourcebook.database.database import Database
from sourcebook.database.measurement_writer import store_measurements
from sourcebook.indexing.generations import ensure_generation, wanted_embedding
from sourcebook.model.progress import Progress, announce
from sourcebook.model.report import StageReport
from sourcebook.model.selection import Selection

if TYPE_CHECKING:
    from sourcebook.embedding.embedder_pool import EmbedderPool
    from sourcebook.embedding.onnx.embed import OnnxEmbedder
    from sourcebook.embedding.process import EmbeddingProcess

MOST_ITEMS = 64
"""Items up to which a change is small: it ends before a page that shows its progress would be open."""
ASSETS = ("raw_files", "documents", "chunks", "embeddings", "search_index", "index_upkeep")
"""The assets of a small change, in the order of the graph."""


def is_small(pending: Pending, selection: Selection) -> bool:
    """Return whether a change is small: a few documents, and neither pages nor recordings."""
    beside = pending.pages or pending.recordings or pending.has_sound
    return not beside and pending.items <= MOST_ITEMS and not (selection.force or selection.thorough)


def update(
    database: Database,
    collection: str,
    selection: Selection,
    pending: Pending,
    embedders: "EmbedderPool",
    home: Path,
) -> dict[str, StageReport]:
    """Run the stages of a small change as the assets do, and return their reports by asset.

    The parser's process and the model are loaded beside the first stages.

    Args:
        database: the knowledge base.
        collection: name of the collection; the caller holds its lock and has applied the configuration.
        selection: part of the collection.
        pending: the change.
        embedders: pool of the embedding models.
        home: the state folder.
    """
    from sourcebook.parsing.parser_pool import ParserPool
    from sourcebook.stages.chunks import prepare_chunks
    from sourcebook.stages.documents.update import update_documents
    from sourcebook.stages.embeddings import embed_missing
    from sourcebook.stages.index_upkeep import maintain_index
    from sourcebook.stages.raw_files import update_raw_files
    from sourcebook.stages.search_index import publish

    def progress(asset: str) -> Progress:
        def report(done: int, total: int, failed: int = 0) -> None:
            announce(asset, collection, done, total, failed)

        return report

    reports: dict[str, StageReport] = {}
    documents = pending.readable_files + pending.unmade_documents
    with (
        ParserPool(documents=documents) as parsers,
        ThreadPoolExecutor(1, thread_name_prefix="model") as beside,
        database.connection() as connection,
        database.connection() as writer,
    ):
        if documents:
            parsers.start_early()
        opening = []
        if pending.needs_model:
            settings = wanted_embedding(connection, collection)
            opening = [beside.submit(embedders.for_texts, settings, home, 1)]  # an error shows again below
        reports["raw_files"] = update_raw_files(
            connection, collection, selection, progress("raw_files"), differences=pending.differences
        )
        reports["documents"] = update_documents(
            connection, collection, selection, progress("documents"), parsers=parsers
        )
        generation = ensure_generation(connection, collection)

        def start_embedder(texts: int) -> "EmbeddingProcess | OnnxEmbedder":
            wait(opening)
            return embedders.for_texts(generation.embedding_settings, home, texts)

        reports["chunks"] = prepare_chunks(connection, generation, selection, progress("chunks"))
        reports["embeddings"] = embed_missing(
            connection,
            writer,
            generation,
            start_embedder,
            progress("embeddings"),
        )
        wait(opening)
        embedders.export_beside(generation.embedding_settings, home)
        reports["search_index"] = publish(connection, generation, progress("search_index"))
        reports["index_upkeep"] = maintain_index(connection, generation, progress("index_upkeep"))
        store_measurements(connection)
    return reports
