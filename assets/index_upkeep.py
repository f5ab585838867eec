"""The asset `index_upkeep`: current keyword weights and blocks, updated after publishing."""

import dagster as dg
from psycopg import Connection

from assets.definition import collection_asset
from assets.generation_check import describe_generations
from assets.materialization import materialization
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from sourcebook.evaluation.gate import passes_gate
from sourcebook.indexing.generations import ensure_generations
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.report import StageReport
from sourcebook.stages.generations import finish_generations, in_each_generation
from sourcebook.stages.index_upkeep import maintain_index


@collection_asset(
    group="index",
    kinds={"sql"},
    work="database",
    items="entries",
    counts={
        "changed": "entries whose keyword weights were recomputed",
        "blocks": "new blocks",
        "entered": "entries that the HNSW index has got",
    },
    deps=["search_index"],
)
def index_upkeep(
    context: dg.AssetExecutionContext, knowledge: Knowledge, progress: ProgressLog
) -> dg.MaterializeResult[None]:
    """Keyword weights recomputed where the average passage length has drifted, and blocks of 8,000 entries."""
    with knowledge.database.connection() as connection:
        report = finished(context.run.run_id, "index_upkeep") or _maintain(context, connection, knowledge, progress)
        generations = describe_generations(connection, context.partition_key)
    return materialization(report, generations=generations)


def _maintain(
    context: dg.AssetExecutionContext, connection: Connection, knowledge: Knowledge, progress: ProgressLog
) -> StageReport:
    report = in_each_generation(
        connection,
        ensure_generations(connection, context.partition_key),
        lambda generation: maintain_index(connection, generation, progress.reporter(context, "blocks")),
    )
    base = KnowledgeBase(knowledge.database)
    try:
        activated = finish_generations(
            connection, context.partition_key, lambda found: passes_gate(connection, base, found)
        )
    finally:
        base.release()
    if activated is not None:
        context.log.info(f"generation {activated.id} is active")
    return report
