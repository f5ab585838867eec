"""Statistics for the planner, refreshed after a stage has moved many rows."""

from psycopg import Connection, sql

from sourcebook.model.report import StageReport

_SHARE = 10
"""Divisor of the rows: statistics are refreshed where more than a tenth of them moved."""


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
