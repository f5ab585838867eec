"""The asset `search_index`: the published entries of a collection."""

import dagster as dg

from assets.definition import collection_asset
from assets.generation_check import generations_at_work, name_generations
from assets.materialization import INDEX_BYTES, materialization
from resources.ahead import ahead_in
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.partition import parts_of
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sourcebook.indexing.graphs import index_bytes
from sourcebook.stages.generations import in_each_generation


@collection_asset(
    group="index",
    kinds={"sql"},
    work="database",
    items="searchable passages",
    counts={
        "changed": "searchable passages whose lexemes changed",
        "documents": "documents that were published in this run",
        "index_bytes": "size of the tables and indexes of the collection's entries",
    },
    deps=["embeddings"],
)
def search_index(
    context: dg.AssetExecutionContext, knowledge: Knowledge, progress: ProgressLog, selection: RunSelection
) -> dg.MaterializeResult[None]:
    """The published index: vectors for KNN and lexemes for full-text search; documents are published whole."""
    collection, shard = parts_of(context)
    with knowledge.database.connection() as connection:
        done = finished(context.run.run_id, "search_index")
        generations = generations_at_work(connection, collection, done, shard)
        if done is None:
            from sourcebook.stages.search_index import publish

            done = in_each_generation(
                connection,
                generations,
                lambda generation: publish(
                    connection,
                    generation,
                    progress.reporter(context, "documents"),
                    thorough=selection.thorough,
                    shard=shard,
                    ahead=ahead_in(context.run.run_id).entries if generation.is_active else None,
                ),
            )
        size = sum(index_bytes(connection, generation) for generation in generations)
    more = {INDEX_BYTES: dg.MetadataValue.int(size), "generations": name_generations(generations)}
    return materialization(done, **more)
