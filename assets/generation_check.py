"""The asset check `next_generation_is_ready`, and generations in the metadata of assets."""

from collections.abc import Sequence

import dagster as dg
from psycopg import Connection

from assets.materialization import one_line
from sourcebook.database.lock import in_turn
from sourcebook.indexing.generation_states import generation_states
from sourcebook.indexing.generations import ensure_generations, find_generations
from sourcebook.model.generation import Generation
from sourcebook.model.report import StageReport
from sourcebook.model.shard import Shard

_MEGABYTE = 1_000_000
"""Bytes of a megabyte."""
NAME = "next_generation_is_ready"
DESCRIPTION = (
    "A generation that changed settings ask for can be built, and answers judged questions as well as the active one."
)
_KEY = dg.AssetCheckKey(dg.AssetKey("index_upkeep"), NAME)


def check_next_generation(connection: Connection, collection: str) -> dg.AssetCheckResult:
    """Look at the generation that is being built; without one the check passes."""
    found = find_generations(connection, collection)
    if found.error is not None:
        return _result(passed=False, description=f"No generation by the new settings can be built: {found.error}")
    if found.building is None:
        return _result(passed=True, description="No generation is being built.")
    (state,) = generation_states(connection, generation=found.building.id)
    table = describe_generations(connection, collection)
    progress = f"{state.documents:,} of {state.live_documents:,} documents are in generation {state.id}"
    if state.failure:
        return _result(passed=False, description=f"{progress}: {state.failure}", table=table)
    if state.state == "blocked":
        description = f"Generation {state.id} is not activated: {state.blocked_by}"
        return _result(passed=False, description=description, table=table)
    return _result(passed=True, description=f"{progress}.", table=table)


def describe_generations(connection: Connection, collection: str) -> dg.MarkdownMetadataValue:
    """Return the generations of a collection as a table in Markdown."""
    lines = [
        f"| {each.id} | {each.state} | {one_line(str(each.embedding['model']))} | {each.chunking['tokens']} "
        f"| {each.documents:,} of {each.live_documents:,} | {each.passages:,} | {each.bytes / _MEGABYTE:.1f} "
        f"| {', '.join(f'{measure} {mean:.3f}' for measure, mean in each.scores.items())} |"
        for each in generation_states(connection, collection)
    ]
    head = [
        "| generation | state | model | tokens | documents | passages | MB | scores |",
        "|--:|---|---|--:|--:|--:|--:|---|",
    ]
    return dg.MetadataValue.md("\n".join([*head, *lines]))


def generations_at_work(
    connection: Connection, collection: str, done: StageReport | None, shard: Shard | None = None
) -> list[Generation]:
    """Return the generations that a stage works on.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        done: the report of a stage whose work is done already: its run holds no lock, and begins no generation.
        shard: the shard that the stage works on: one of them at a time begins a generation.
    """
    if done is not None:
        return find_generations(connection, collection).followed
    with in_turn(connection, shard, "generations"):
        return ensure_generations(connection, collection)


def name_generations(generations: Sequence[Generation]) -> dg.TextMetadataValue:
    """Return the generations that a stage works on in one line: `1 is active, 2 is being built`."""
    states = (f"{each.id} is {'active' if each.is_active else 'being built'}" for each in generations)
    return dg.MetadataValue.text(", ".join(states))


def _result(*, passed: bool, description: str, table: dg.MarkdownMetadataValue | None = None) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=passed,
        asset_key=_KEY.asset_key,
        check_name=NAME,
        severity=dg.AssetCheckSeverity.WARN,
        description=description,
        metadata=None if table is None else {"generations": table},
    )
