"""The end of a run: the upkeep of each generation's index, and the change from one generation to the next."""

from collections.abc import Callable

from psycopg import Connection

from sourcebook.database.lock import end_shard_work, in_turn
from sourcebook.indexing.first_entries import is_unused
from sourcebook.indexing.generations import Generations, ensure_generations
from sourcebook.model.generation import Generation
from sourcebook.model.progress import Progress, silent
from sourcebook.model.report import StageReport
from sourcebook.model.shard import Shard
from sourcebook.stages.generations import finish_generations, in_each_generation
from sourcebook.stages.index_upkeep import maintain_index
from sourcebook.stages.search_index import publish


def end_run(
    connection: Connection,
    collection: str,
    shard: Shard | None = None,
    *,
    maintaining: Progress = silent,
    publishing: Progress = silent,
    passes_gate: Callable[[Generations], bool] = lambda _: True,
) -> tuple[StageReport, Generation | None]:
    """Maintain the index of each generation; the last shard that ends activates and deletes generations.

    Args:
        connection: in autocommit mode; the caller holds the lock of the collection or of the shard.
        collection: name of the collection.
        shard: the shard that is worked on; None: the whole collection.
        maintaining: called with (done, total) blocks.
        publishing: called with (done, total) documents of an unused generation.
        passes_gate: see `finish_generations`.

    Returns:
        The report of the upkeep, and the generation that was activated.
    """
    with in_turn(connection, shard, "upkeep"), in_turn(connection, shard, "generations"):
        is_last = shard is None or end_shard_work(connection, shard)
        generations = ensure_generations(connection, collection)
        if shard is not None and is_last:
            for generation in generations:
                if not generation.is_active and is_unused(connection, generation):
                    publish(connection, generation, publishing)
        report = in_each_generation(
            connection, generations, lambda generation: maintain_index(connection, generation, maintaining)
        )
        return report, finish_generations(connection, collection, passes_gate) if is_last else None
