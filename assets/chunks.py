"""The asset `chunks`: passages of each document, cut along its structure."""

import dagster as dg

from assets.definition import collection_asset
from assets.generation_check import generations_at_work, name_generations
from assets.materialization import materialization
from resources.ahead import ahead_in, words_first
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.partition import parts_of
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sourcebook.stages.generations import in_each_generation


@collection_asset(
    group="index",
    kinds={"python"},
    work="processor",
    items="passages",
    counts={"damaged": "documents, vectors and kept numbers that were not as they were written, and are mended"},
    deps=["documents"],
)
def chunks(
    context: dg.AssetExecutionContext, knowledge: Knowledge, selection: RunSelection, progress: ProgressLog
) -> dg.MaterializeResult[None]:
    """Passages with heading path, anchor, page, character span and token count, prepared beside the published ones."""
    collection, shard = parts_of(context)
    with knowledge.database.connection() as connection:
        done = finished(context.run.run_id, "chunks")
        generations = generations_at_work(connection, collection, done, shard)
        if done is None:
            from sourcebook.stages.chunks import prepare_chunks

            ahead = ahead_in(context.run.run_id)
            words_first(context, connection)(0)
            done = in_each_generation(
                connection,
                generations,
                lambda generation: prepare_chunks(
                    connection,
                    generation,
                    selection.selection(shard),
                    progress.reporter(context, "documents"),
                    ahead=ahead.chunks if generation.is_active else None,
                ),
                is_first=True,
            )
    return materialization(done, generations=name_generations(generations))
