"""The resource `knowledge`: the database of the knowledge base and its configuration."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import dagster as dg
from psycopg import Connection
from pydantic import Field, PrivateAttr

from resources.partition import PARTITION, WHOLE, collection_of, shard_of
from resources.requested_run import requested_run
from sourcebook.admin.collections import apply, collection_names, collections_of_the_api
from sourcebook.config.loading import (
    Configuration,
    configuration_path,
    configured_time_zone,
    load_configuration,
    sourcebook_home,
)
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.lock import check_shard, collection_lock, shard_lock
from sourcebook.database.measurement_writer import MeasurementWriter
from sourcebook.database.pool import StatementLimits
from sourcebook.database.server_keeper import keep_running
from sourcebook.errors import ConfigurationError
from sourcebook.telemetry.log_context import log_context
from sourcebook.telemetry.spans import span

LAST_GOOD = "the configuration has a mistake, and the last good one stays in force"
"""Beginning of the sentence that reports a mistake in the configuration file."""


class Knowledge(dg.ConfigurableResource["Knowledge"]):
    """Connections to the database; a run also holds the lock of its collection."""

    config_path: str = Field(
        default="", description="Path of sourcebook.yaml; empty: SOURCEBOOK_CONFIG, else the current folder."
    )
    lock: bool = Field(
        default=True, description="Hold the collection's lock during a run. Off where the caller holds it."
    )

    time_zone: str = Field(default="", description="Time zone with which the schedules were loaded.")

    given: ClassVar[Configuration | None] = None
    """Configuration of a project that has no file, in a class of its own: `orchestration/embedding` makes it."""
    _database: Database | None = PrivateAttr(default=None)

    def configuration(self) -> Configuration:
        """Read the configuration file.

        Raises:
            ConfigurationError: the file is missing or malformed.
        """
        return self.given or load_configuration(Path(self.config_path) if self.config_path else None)

    @property
    def path(self) -> Path:
        """The absolute path of the configuration; there may be no file."""
        return (
            self.given.path if self.given else configuration_path(Path(self.config_path) if self.config_path else None)
        )

    @property
    def other_time_zone(self) -> str | None:
        """The time zone of the configuration where the schedules were loaded with another one."""
        wanted = self.given.time_zone if self.given else configured_time_zone(self.path)
        return wanted if self.time_zone not in ("", wanted) else None

    @property
    def database(self) -> Database:
        """The open database; available during a run or within `opened()`."""
        if self._database is None:
            message = "the database is open only during a run"
            raise RuntimeError(message)
        return self._database

    @property
    def home(self) -> Path:
        """The state folder."""
        return sourcebook_home(self.path)

    def apply_configuration(self, connection: Connection) -> str | None:
        """Record the collections and sources of the configuration file.

        A file with a mistake changes nothing: the configuration that was applied last stays in force.

        Returns:
            The mistake in the file with line and column, or None.
        """
        try:
            if self._needs_no_file(connection):
                return None
            apply(connection, self.configuration())
        except ConfigurationError as error:
            return str(error)
        return None

    def _needs_no_file(self, connection: Connection) -> bool:
        """Return whether there is no file, and every collection was made over the API."""
        if self.given or self.path.exists():
            return False
        names = collection_names(connection)
        return names != [] and names == collections_of_the_api(connection)

    @contextmanager
    def configured_connection(self, warn: Callable[[str], None]) -> Iterator[Connection]:
        """Lend a connection after recording the collections and sources of the current configuration.

        Args:
            warn: called with one sentence where the file has a mistake; the run uses the last good configuration.
        """
        with self.database.connection() as connection:
            mistake = self.apply_configuration(connection)
            if mistake is not None:
                warn(f"{LAST_GOOD}: {mistake}")
            yield connection

    @contextmanager
    def opened(self) -> Iterator[Database]:
        """Open the database outside a run, for a sensor.

        An embedded server that no other process uses, as under `dagster dev`, stays on until this process ends.
        """
        if self._database is not None:
            yield self._database
            return
        location = DatabaseLocation.find(self.home)
        if location.url is None:
            keep_running(location.data_folder)
        with self._opened(location) as database:
            yield database

    @contextmanager
    def _opened(self, location: DatabaseLocation) -> Iterator[Database]:
        with Database(location) as database:
            self._database = database
            try:
                yield database
            finally:
                self._database = None

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator["Knowledge"]:
        """Open the database for a run and take the lock of its collection, once no other process holds it."""
        if context.run is None:  # a sensor's
            with self.opened() as database, _observed_run(database, None):
                yield self
            return
        partition = context.run.tags.get(PARTITION)
        with self._opened(DatabaseLocation.find(self.home)) as database, _observed_run(database, context.run):
            if partition is None or not self.lock:
                yield self
                return

            def waiting() -> None:
                if context.log:
                    context.log.info(f"waiting: another process works on {partition}")

            with _lock(database, context.run, partition, waiting), requested_run(database, context):
                yield self


@contextmanager
def _lock(database: Database, run: dg.DagsterRun, partition: str, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of a run's partition.

    Raises:
        ConfigurationError: the partition is not one of its collection's any more.
    """
    shard = shard_of(run.tags)
    if shard is not None:
        with shard_lock(database, shard, waiting=waiting):
            yield
        return
    with collection_lock(database, collection_of(partition), waiting=waiting):
        if WHOLE not in run.tags:
            with database.connection() as connection:
                check_shard(connection, partition, None)
        yield


@contextmanager
def _observed_run(database: Database, run: dg.DagsterRun | None) -> Iterator[None]:
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
