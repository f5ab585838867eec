"""The end of a stage: its work and seconds on each machine, and fresh statistics where it moved many rows."""

import platform

from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.model.report import StageReport

MOST_KEPT = 500
"""Runs of each stage that a machine keeps."""
_SHARE = 10
"""Divisor of the rows: statistics are refreshed where more than a tenth of them moved."""


def record_stage_run(connection: Connection, stage: str, kind: str, work: float, seconds: float) -> None:
    """Keep the seconds of one stage.

    Args:
        connection: in autocommit mode.
        stage: name of its asset, or `run` for the time of a run outside its stages.
        kind: of `embeddings` the model, of `run` how it was executed, else empty.
        work: seconds at built-in rates; see `sourcebook.model.work`.
        seconds: seconds that it took.
    """
    values = {"machine": platform.node(), "stage": stage, "kind": kind, "work": work, "seconds": seconds}
    connection.execute(queries["record_stage_run"], values)


def stage_runs(connection: Connection) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Return work and seconds of the runs that this machine has kept, by stage and kind."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    scope = {"machine": platform.node(), "most": MOST_KEPT}
    for stage, kind, work, seconds in connection.execute(queries["stage_runs"], scope):
        found.setdefault((stage, kind), []).append((work, seconds))
    return found


def forget_stage_runs(connection: Connection) -> int:
    """Delete all but the newest runs of each stage; return the number of deleted ones."""
    return connection.execute(queries["forget_stage_runs"], {"most": MOST_KEPT}).rowcount


def refresh_statistics(
    connection: Connection, statement: sql.SQL, report: StageReport, *, rows: int | None = None
) -> None:
    """Analyze the tables of a stage where it moved more than a tenth of the rows.

    Args:
        connection: in autocommit mode.
        statement: the ANALYZE of its tables.
        report: the counts of the stage.
        rows: number of rows besides the moved ones, where `report.unchanged` counts only a part of them.
    """
    moved = report.added + report.changed + report.removed
    if moved * _SHARE > moved + (report.unchanged if rows is None else rows):
        connection.execute(statement)
