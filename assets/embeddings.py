"""The asset `embeddings`: one vector per distinct text."""

import dagster as dg

from assets.definition import collection_asset
from assets.generation_check import generations_at_work, name_generations
from assets.materialization import describe_usage, materialization
from resources.ahead import vectors_behind
from resources.embedder import Embedder
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.partition import parts_of
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sourcebook.indexing.generations import record_engine
from sourcebook.model.generation import Generation
from sourcebook.model.report import StageReport
from sourcebook.stages.generations import in_each_generation


@collection_asset(
    group="index",
    kinds={"huggingface"},
    work="processor",
    items="distinct texts",
    counts={
        "added": "distinct texts that got a vector in this run",
        "unchanged": "distinct texts that had one",
        "computed": "vectors that the model computed in this run",
        "reused": "vectors that were there before",
        "tokens": "tokens that the model read in this run; empty where a service did not count them",
        "cost": "what this run cost in US dollars: 0 for models of this machine, empty where the price is unknown",
    },
    deps=["chunks"],
)
def embeddings(
    context: dg.AssetExecutionContext,
    knowledge: Knowledge,
    embedder: dg.ResourceParam[Embedder],
    progress: ProgressLog,
    selection: RunSelection,
) -> dg.MaterializeResult[None]:
    """Vectors by (model, sha256 of the embedded text): equal texts are embedded once."""
    collection, shard = parts_of(context)
    with knowledge.database.connection() as reader, knowledge.database.connection() as writer:

        def embed(generation: Generation) -> StageReport:
            from sourcebook.embedding.embedder_pool import MANY_TEXTS
            from sourcebook.embedding.remote.access import ProviderAccess
            from sourcebook.stages.embeddings import SubmittingEmbedder, embed_missing

            def start(texts: int) -> SubmittingEmbedder:
                if texts > MANY_TEXTS:  # the disk is idle meanwhile
                    knowledge.database.write_out_beside()
                access = ProviderAccess(knowledge.database.connection, generation.collection)
                return embedder.pool.for_generation(generation, knowledge.home, texts, access)

            report = embed_missing(
                reader,
                writer,
                generation,
                start,
                progress.reporter(context, "chunks"),
                thorough=selection.thorough,
                shard=shard,
                embedded=vectors_behind(context, writer, generation),
            )
            if report.extra["computed"]:
                record_engine(reader, generation, embedder.pool.engine_of(generation.embedding_settings))
            embedder.pool.export_beside(generation.embedding_settings, knowledge.home)
            return report

        done = finished(context.run.run_id, "embeddings")
        generations = generations_at_work(reader, collection, done, shard)
        report = done or in_each_generation(reader, generations, embed)
        used = describe_usage(reader, collection)
    numbers = {name: dg.MetadataValue.null() if value is None else value for name, value in report.use().items()}
    return materialization(report, generations=name_generations(generations), **numbers, **used)
