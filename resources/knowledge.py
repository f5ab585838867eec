"""The database of the knowledge base, and the configuration it follows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from pydantic import Field, PrivateAttr

from sourcebook.config.configuration import Configuration, configuration_path, load_configuration, sourcebook_home
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.lock import collection_lock


class Knowledge(dg.ConfigurableResource["Knowledge"]):
    """Lends connections; during a run it also holds the lock of the run's collection."""

    config_path: str = Field(
        default="", description="Path of sourcebook.yaml; empty: SOURCEBOOK_CONFIG, else the current folder."
    )
    lock: bool = Field(
        default=True, description="Hold the collection's lock during a run. Off where the caller holds it."
    )

    _database: Database | None = PrivateAttr(default=None)

    def configuration(self) -> Configuration:
        """Read the configuration as it is now.

        Raises:
            ConfigurationError: it is missing or malformed.
        """
        return load_configuration(Path(self.config_path) if self.config_path else None)

    @property
    def database(self) -> Database:
        """The open database; only within a run or within `opened()`."""
        if self._database is None:
            message = "the database is open only during a run"
            raise RuntimeError(message)
        return self._database

    @property
    def home(self) -> Path:
        """The folder for state."""
        return sourcebook_home(configuration_path(Path(self.config_path) if self.config_path else None))

    @contextmanager
    def opened(self) -> Iterator[Database]:
        """Open the database outside a run, as sensors do."""
        with Database(DatabaseLocation.find(self.home)) as database:
            self._database = database
            try:
                yield database
            finally:
                self._database = None

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator["Knowledge"]:
        """Open the database for a run, and wait for the collection where another run works on it."""
        collection = context.run.tags.get("dagster/partition") if context.run else None
        with self.opened() as database:
            if collection is None or not self.lock:
                yield self
                return

            def waiting() -> None:
                if context.log:
                    context.log.info(f"waiting: another process works on {collection}")

            with collection_lock(database, collection, waiting=waiting):
                yield self
