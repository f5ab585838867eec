"""The asset `embeddings`: one vector per distinct text."""

import dagster as dg

from assets.materialization import materialization
from orchestration.partitions import collection_partitions
from resources.embedder import Embedder
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from sourcebook.indexing.generations import ensure_generation
from sourcebook.stages.embeddings import embed_missing


@dg.asset(
    deps=["chunks"],
    partitions_def=collection_partitions,
    group_name="knowledge_base",
    kinds={"pytorch", "postgres"},
)
def embeddings(
    context: dg.AssetExecutionContext,
    knowledge: Knowledge,
    embedder: dg.ResourceParam[Embedder],
    progress: ProgressLog,
) -> dg.MaterializeResult[None]:
    """Vectors by (model, sha256 of the embedded text): equal texts are embedded once."""
    with knowledge.database.connection() as reader, knowledge.database.connection() as writer:
        generation = ensure_generation(reader, context.partition_key)
        report = embed_missing(
            reader,
            writer,
            generation,
            lambda texts: embedder.pool.for_texts(generation.embedding_settings, knowledge.home, texts),
            progress.reporter(context, "chunks"),
        )
    embedder.pool.export_beside(generation.embedding_settings, knowledge.home)
    return materialization(report)
