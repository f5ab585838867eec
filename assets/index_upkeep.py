"""The asset `index_upkeep`: current keyword weights and blocks, updated after publishing."""

import dagster as dg
from psycopg import Connection

from assets.definition import collection_asset
from assets.generation_check import describe_generations
from assets.materialization import materialization
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.partition import parts_of
from resources.progress import ProgressLog
from sourcebook.database.lock import end_shard_work, in_turn
from sourcebook.evaluation.gate import passes_gate
from sourcebook.indexing.first_entries import is_unused
from sourcebook.indexing.generations import ensure_generations
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.report import StageReport
from sourcebook.stages.generations import finish_generations, in_each_generation
from sourcebook.stages.index_upkeep import maintain_index
from sourcebook.stages.search_index import publish


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
            with in_turn(connection, shard, "upkeep"), in_turn(connection, shard, "generations"):
                report = _maintain(context, connection, knowledge, progress)
        generations = describe_generations(connection, collection)
    return materialization(report, generations=generations)


def _maintain(
    context: dg.AssetExecutionContext, connection: Connection, knowledge: Knowledge, progress: ProgressLog
) -> StageReport:
    collection, shard = parts_of(context)
    is_last = shard is None or end_shard_work(connection, shard)
    generations = ensure_generations(connection, collection)
    if shard is not None and is_last:
        for generation in generations:
            if not generation.is_active and is_unused(connection, generation):
                publish(connection, generation, progress.reporter(context, "documents"))
    report = in_each_generation(
        connection,
        generations,
        lambda generation: maintain_index(connection, generation, progress.reporter(context, "blocks")),
    )
    if not is_last:  # the last shard that ends activates and deletes generations
        return report
    base = KnowledgeBase(knowledge.database)
    try:
        activated = finish_generations(connection, collection, lambda found: passes_gate(connection, base, found))
    finally:
        base.release()
    if activated is not None:
        context.log.info(f"generation {activated.id} is active")
    return report
