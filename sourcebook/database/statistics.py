"""Keep the planner's statistics in step with what the stages do."""

from psycopg import Connection, sql

from sourcebook.model.report import StageReport

_SHARE = 10
"""Statistics are refreshed where more than one in this many rows moved."""


def refresh_statistics(connection: Connection, statement: sql.SQL, report: StageReport) -> None:
    """Analyze what a stage wrote, if it moved a large share of it.

    Args:
        connection: in autocommit mode.
        statement: the ANALYZE of its tables.
        report: what the stage did.
    """
    moved = report.added + report.changed + report.removed
    if moved * _SHARE > moved + report.unchanged:
        connection.execute(statement)
