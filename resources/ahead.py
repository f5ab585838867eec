"""Counts of what a run has published ahead of the assets that report it, handed from one asset to the next."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import dagster as dg
from psycopg import Connection

from resources.partition import parts_of
from sourcebook.model.generation import Generation

if TYPE_CHECKING:
    from sourcebook.stages.words_first import Ahead

_runs: "dict[str, Ahead]" = {}


def ahead_in(run_id: str) -> "Ahead":
    """Return what the run has done ahead in this process, which executes one run at a time."""
    if run_id not in _runs:
        from sourcebook.stages.words_first import Ahead

        _runs.clear()
        _runs[run_id] = Ahead()
    return _runs[run_id]


def goes_on_to(context: dg.AssetExecutionContext, asset: str) -> bool:
    """Return whether the run materializes an asset, so that others may do a part of its work ahead."""
    steps = context.run.step_keys_to_execute
    return steps is None or asset in steps


def words_first(context: dg.AssetExecutionContext, connection: Connection) -> Callable[[int], None]:
    """Return the callback that publishes recorded documents by their words; one that does nothing in a run without."""
    if not goes_on_to(context, "search_index"):
        return lambda documents: None
    from sourcebook.stages.words_first import WordsFirst

    collection, shard = parts_of(context)
    return WordsFirst(connection, collection, ahead_in(context.run.run_id), shard).publish


def vectors_behind(
    context: dg.AssetExecutionContext, connection: Connection, generation: Generation
) -> Callable[[list[int]], None]:
    """Return the callback that publishes embedded documents; one that does nothing in a run without."""
    if not goes_on_to(context, "search_index"):
        return lambda documents: None
    return lambda documents: ahead_in(context.run.run_id).publish_embedded(connection, generation, documents)
