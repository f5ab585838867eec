"""Ingest of a small change: the stages and checks run in this process without Dagster; another one records the run."""

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.admin.checks import OF_INDEX, run_checks
from sourcebook.admin.finished_runs import keep
from sourcebook.admin.pending import Pending
from sourcebook.database.database import Database
from sourcebook.database.lock import in_turn, is_at_rest
from sourcebook.database.measurement_writer import store_measurements
from sourcebook.embedding.remote.access import ProviderAccess
from sourcebook.indexing.generations import ensure_generations, record_engine, wanted_embedding
from sourcebook.model.generation import Generation
from sourcebook.model.progress import Progress, announce
from sourcebook.model.report import StageReport
from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard

if TYPE_CHECKING:
    from sourcebook.embedding.embedder_pool import EmbedderPool
    from sourcebook.embedding.onnx.embed import OnnxEmbedder
    from sourcebook.embedding.process import EmbeddingProcess
    from sourcebook.embedding.remote.embedder import RemoteEmbedder

ASSETS = ("raw_files", "documents", "chunks", "embeddings", "search_index", "index_upkeep")
"""The assets of a small change, in the order of the graph."""


def ingest_directly(
    database: Database,
    collection: str,
    selection: Selection,
    pending: Pending,
    embedders: "EmbedderPool",
    home: Path,
    shard: Shard | None = None,
) -> tuple[str, dict[str, StageReport]] | None:
    """Run the stages and checks of a small change as the job does, and keep the result for the recorder.

    None where a check finds an index that must not be relied on: the ordinary run goes on, fails and says so.

    The parser's process and the model are loaded beside the first stages.

    Args:
        database: the knowledge base.
        collection: name of the collection; the caller holds its lock, or that of the shard, and has applied the
            configuration.
        selection: part of the collection.
        pending: the change.
        embedders: pool of the embedding models.
        home: the state folder.
        shard: the shard that is brought up to date; None: the whole collection.
    """
    from sourcebook.admin.planning.items import planned_items
    from sourcebook.contract.plans import count_reasons
    from sourcebook.parsing.parser_pool import ParserPool
    from sourcebook.stages.chunks import prepare_chunks
    from sourcebook.stages.collection_upkeep import end_run
    from sourcebook.stages.documents.update import update_documents
    from sourcebook.stages.embeddings import embed_missing
    from sourcebook.stages.generations import in_each_generation
    from sourcebook.stages.raw_files import update_raw_files
    from sourcebook.stages.search_index import publish

    def progress(asset: str) -> Progress:
        def report(done: int, total: int, failed: int = 0) -> None:
            announce(asset, collection, done, total, failed)

        return report

    reports: dict[str, StageReport] = {}
    selection = replace(selection, shard=shard)
    documents = pending.readable_files + pending.unmade_documents - pending.taken_documents
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
            if settings.provider is None:
                opening = [beside.submit(embedders.for_texts, settings, home, 1)]  # an error shows again below
        plan = count_reasons(planned_items(connection, collection, pending, changed_settings=()).counts)
        reports["raw_files"] = update_raw_files(
            connection,
            collection,
            selection,
            progress("raw_files"),
            # Those of a shard were found before its lock was held.
            differences=pending.differences if shard is None else None,
        )
        reports["raw_files"].plan = plan
        reports["documents"] = update_documents(
            connection, collection, selection, progress("documents"), parsers=parsers
        )
        with in_turn(connection, shard, "generations"):
            generations = ensure_generations(connection, collection)

        def embed(generation: Generation) -> StageReport:
            def start_embedder(texts: int) -> "EmbeddingProcess | OnnxEmbedder | RemoteEmbedder":
                wait(opening)
                return embedders.for_generation(
                    generation, home, texts, ProviderAccess(database.connection, collection)
                )

            report = embed_missing(connection, writer, generation, start_embedder, progress("embeddings"), shard=shard)
            wait(opening)
            if report.extra["computed"]:
                record_engine(connection, generation, embedders.engine_of(generation.embedding_settings))
            embedders.export_beside(generation.embedding_settings, home)
            return report

        for asset, work, is_first in (
            ("chunks", lambda each: prepare_chunks(connection, each, selection, progress("chunks")), True),
            ("embeddings", embed, False),
            ("search_index", lambda each: publish(connection, each, progress("search_index"), shard=shard), False),
        ):
            reports[asset] = in_each_generation(connection, generations, work, is_first=is_first)
        reports["index_upkeep"], _ = end_run(connection, collection, shard, maintaining=progress("index_upkeep"))
        store_measurements(connection)
        is_last = shard is None or is_at_rest(connection, collection)
        outcomes = run_checks(connection, collection, thorough=False, shard=shard, is_last=is_last)
        if any(outcome.violations for outcome in outcomes if outcome.name in OF_INDEX):
            return None
        return keep(connection, collection, reports, outcomes, shard=shard), reports
