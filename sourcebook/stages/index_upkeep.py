"""The stage `index_upkeep`: keyword weights for the current average passage length, blocks of entries, the HNSW index.

Reads: `search_entry`, `keyword_entry` and the lengths in `generation`.
Writes: `keyword_entry`, `keyword_block`, the average length in `generation`, and `in_graph` in `search_entry`.
Stale: the weights of a generation whose average length has drifted; entries that are in no block, from 8,000 on; a
block that has lost a fifth of its entries; entries outside the HNSW index, from 512 on; HNSW indexes in another number
of parts, or of another kind, than the settings ask for.

Publishing does not wait for this stage: without it searches find the same entries, only more slowly.
"""

from dataclasses import dataclass

from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.indexing.first_entries import KEYWORD_BLOCK
from sourcebook.indexing.graphs import present_layout, settle_graphs
from sourcebook.model.generation import Generation
from sourcebook.model.progress import Progress, silent
from sourcebook.model.report import StageReport
from sourcebook.model.work import upkeep_work
from sourcebook.stages.observed_stage import observed_stage

LARGEST_DRIFT = 0.1
"""Relative change of the average passage length at which all weights are recomputed."""
DRIFT_AFTER_A_LOAD = 0.001
"""LARGEST_DRIFT after a load that has more than doubled the entries: recomputing costs 1 % of embedding them."""
FEW = 1_000
"""Entries up to which weights are recomputed at DRIFT_AFTER_A_LOAD: this takes half a second."""
BLOCK = KEYWORD_BLOCK
"""Entries per block."""
FEWEST_OF_A_BLOCK = BLOCK * 4 // 5
"""Entries below which a block is dissolved."""

MOST_OUTSIDE = 512
"""Entries outside the HNSW index at which they enter it; comparing as many takes a search about a millisecond."""
_ENTERED_AT_ONCE = 64
"""Entries that enter the HNSW index per transaction, which takes a fifth of a second."""


@dataclass(frozen=True, slots=True)
class _State:
    drift: float
    """Relative change of the average length since the weights were computed."""
    entries: int
    averaged: int
    """Number of entries when the weights were computed."""
    loose: int
    """Number of entries in no block."""
    newest_block: int
    sparse_blocks: list[int]
    outside: int
    """Number of entries outside the HNSW index."""


@observed_stage("index_upkeep")
def maintain_index(connection: Connection, generation: Generation, progress: Progress = silent) -> StageReport:
    """Recompute the weights where the average length has drifted, and gather loose entries into blocks.

    Each step is one transaction. `changed` counts weights, `blocks` counts new blocks, `entered` counts entries that
    the HNSW index has got.
    """
    report = StageReport()
    state = _state(connection, generation)
    report.unchanged = state.entries
    is_cheap = state.entries <= FEW or state.entries > 2 * state.averaged
    allowed = DRIFT_AFTER_A_LOAD if is_cheap else LARGEST_DRIFT
    if state.drift > allowed or state.loose >= BLOCK:
        connection.execute(queries["analyze_lexemes"])
    if state.drift > allowed:
        report.changed = _renew_weights(connection, generation)
        report.unchanged -= report.changed
    if state.sparse_blocks and not report.changed:
        _dissolve(connection, generation, state.sparse_blocks)
    state = _state(connection, generation)
    blocks = state.loose // BLOCK
    for number in range(1, blocks + 1):
        _build_block(connection, generation, state.newest_block + number)
        report.count("blocks", 1)
        progress(number, blocks)
    entered = _enter_graph(connection, generation, state.outside) if state.outside >= MOST_OUTSIDE else 0
    if entered:
        report.count("entered", entered)
    if present_layout(connection, generation) is not None and settle_graphs(connection, generation, state.entries):
        report.count("graphs", 1)
    report.work = upkeep_work(blocks * BLOCK + report.changed)
    if blocks or report.changed:
        _vacuum(connection, generation)
    return report.finish(f"{state.entries} {state.newest_block + blocks}")


def _state(connection: Connection, generation: Generation) -> _State:
    row = connection.execute(
        queries["keyword_upkeep"], {"generation": generation.id, "fewest": FEWEST_OF_A_BLOCK}
    ).fetchone()
    return _State(*row) if row else _State(0.0, 0, 0, 0, 0, [], 0)


def _enter_graph(connection: Connection, generation: Generation, outside: int) -> int:
    """Enter the entries outside the HNSW index, and return their number."""
    statement = queries["enter_graph"].format(partition=generation.partition)
    entered = 0
    for _ in range(0, outside, _ENTERED_AT_ONCE):
        entered += connection.execute(statement, {"most": _ENTERED_AT_ONCE}).rowcount
    return entered


def _renew_weights(connection: Connection, generation: Generation) -> int:
    scope = {"generation": generation.id}
    with connection.transaction():
        connection.execute(queries["renew_average_length"], scope)
        connection.execute(queries["delete_keyword_blocks"], scope)
        connection.execute(queries["delete_keyword_weights"], scope)
        renewed = connection.execute(queries["insert_keyword_weights"], scope).rowcount
    _vacuum(connection, generation)  # so that the next rows reuse the space of the old weights
    return renewed


def _dissolve(connection: Connection, generation: Generation, blocks: list[int]) -> None:
    scope = {"generation": generation.id, "blocks": blocks}
    with connection.transaction():
        connection.execute(queries["hold_generation"], scope)
        connection.execute(queries["leave_keyword_blocks"], scope)
        connection.execute(queries["delete_sparse_keyword_blocks"], scope)


def _build_block(connection: Connection, generation: Generation, number: int) -> None:
    scope = {"generation": generation.id, "block": number, "size": BLOCK}
    with connection.transaction():
        connection.execute(queries["hold_generation"], scope)
        connection.execute(queries["enter_keyword_block"], scope)
        connection.execute(queries["build_keyword_block"], scope)


def _vacuum(connection: Connection, generation: Generation) -> None:
    for table in (generation.partitions["keyword_entry"], sql.Identifier("keyword_block"), sql.Identifier("lexeme")):
        connection.execute(queries["vacuum_table"].format(table=table))
