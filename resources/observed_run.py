"""Observation of a run: its span, the run and collection of its log lines, and its counters in the ledger."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from resources.partition import PARTITION, collection_of
from sourcebook.database.database import Database
from sourcebook.database.measurement_writer import MeasurementWriter
from sourcebook.database.pool import StatementLimits
from sourcebook.telemetry.log_context import log_context
from sourcebook.telemetry.spans import span


@contextmanager
def observed_run(database: Database, run: dg.DagsterRun | None) -> Iterator[None]:
    """Observe the run of the block.

    Args:
        database: the database with the ledger.
        run: the Dagster run; None outside one.
    """
    fields = {"run": run.run_id, "collection": collection_of(run.tags.get(PARTITION, ""))} if run else {}
    connections = database.new_pool(1, StatementLimits())
    writer = MeasurementWriter(connections)
    writer.start()
    try:
        with log_context(**fields), span("run", fields):
            yield
    finally:
        writer.close()
        connections.close()
