"""The asset `index_upkeep`: current keyword weights and blocks, updated after publishing."""

import dagster as dg

from assets.definition import collection_asset
from assets.generation_check import describe_generations
from assets.materialization import materialization
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.partition import parts_of
from resources.progress import ProgressLog


@collection_asset(
    group="index",
    kinds={"sql"},
    work="database",
    items="entries",
    counts={
        "changed": "entries whose keyword weights were recomputed",
        "blocks": "new blocks",
        "entered": "entries that the HNSW index has got",
        "graphs": "1 where HNSW indexes took the place of others",
    },
    deps=["search_index"],
)
def index_upkeep(
    context: dg.AssetExecutionContext, knowledge: Knowledge, progress: ProgressLog
) -> dg.MaterializeResult[None]:
    """Keyword weights recomputed where the average passage length has drifted, and blocks of 8,000 entries."""
    collection, shard = parts_of(context)
    with knowledge.database.connection() as connection:
        report = finished(context.run.run_id, "index_upkeep")
        if report is None:
            from sourcebook.evaluation.gate import passes_gate
            from sourcebook.knowledge_base import KnowledgeBase
            from sourcebook.stages.collection_upkeep import end_run

            base = KnowledgeBase(knowledge.database)
            try:
                report, activated = end_run(
                    connection,
                    collection,
                    shard,
                    maintaining=progress.reporter(context, "blocks"),
                    publishing=progress.reporter(context, "documents"),
                    passes_gate=lambda found: passes_gate(connection, base, found),
                )
            finally:
                base.release()
            if activated is not None:
                context.log.info(f"generation {activated.id} is active")
        generations = describe_generations(connection, collection)
    return materialization(report, generations=generations)
