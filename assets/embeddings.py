"""The asset `embeddings`: one vector per distinct text."""

import dagster as dg

from assets.definition import collection_asset
from assets.materialization import materialization
from resources.embedder import Embedder
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sourcebook.indexing.generations import ensure_generation
from sourcebook.stages.embeddings import embed_missing


@collection_asset(
    group="index",
    kinds={"huggingface"},
    work="processor",
    deps=["chunks"],
)
def embeddings(
    context: dg.AssetExecutionContext,
    knowledge: Knowledge,
    embedder: dg.ResourceParam[Embedder],
    progress: ProgressLog,
    selection: RunSelection,
) -> dg.MaterializeResult[None]:
    """Vectors by (model, sha256 of the embedded text): equal texts are embedded once.

    The counts are distinct texts: `computed` by the model in this run, or `reused`.
    """
    with knowledge.database.connection() as reader, knowledge.database.connection() as writer:
        generation = ensure_generation(reader, context.partition_key)
        report = finished("embeddings") or embed_missing(
            reader,
            writer,
            generation,
            lambda texts: embedder.pool.for_texts(generation.embedding_settings, knowledge.home, texts),
            progress.reporter(context, "chunks"),
            thorough=selection.thorough,
        )
    embedder.pool.export_beside(generation.embedding_settings, knowledge.home)
    return materialization(report)
