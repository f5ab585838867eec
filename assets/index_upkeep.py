"""The asset `index_upkeep`: current keyword weights and blocks, updated after publishing."""

import dagster as dg

from assets.definition import collection_asset
from assets.materialization import materialization
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from sourcebook.indexing.generations import ensure_generation
from sourcebook.stages.index_upkeep import maintain_index


@collection_asset(
    group="index",
    kinds={"sql"},
    work="database",
    deps=["search_index"],
)
def index_upkeep(
    context: dg.AssetExecutionContext, knowledge: Knowledge, progress: ProgressLog
) -> dg.MaterializeResult[None]:
    """Keyword weights recomputed where the average passage length has drifted, and blocks of 8,000 entries.

    `changed` counts recomputed weights, `blocks` counts new blocks.
    """
    with knowledge.database.connection() as connection:
        generation = ensure_generation(connection, context.partition_key)
        report = finished("index_upkeep") or maintain_index(
            connection, generation, progress.reporter(context, "blocks")
        )
    return materialization(report)
