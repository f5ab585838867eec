"""The context of a command: configuration, state folder and database."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sourcebook.errors import QueryError

if TYPE_CHECKING:
    from sourcebook.config.loading import Configuration
    from sourcebook.database.database import Database
    from sourcebook.database.location import DatabaseLocation


@dataclass(frozen=True)
class CommandContext:
    """The global options, and the configuration and database that they name; each is read on first use."""

    config_path: Path | None = None
    """Path from `--config` or SOURCEBOOK_CONFIG; None for the default."""

    @classmethod
    def of(cls, ctx: typer.Context) -> "CommandContext":
        """Return the context of the global options."""
        found = ctx.find_object(cls)
        return found if found is not None else cls()

    @cached_property
    def configuration(self) -> "Configuration":
        """The configuration file.

        Raises:
            ConfigurationError: the file is missing or invalid.
        """
        from sourcebook.config.loading import load_configuration

        return load_configuration(self.config_path)

    @property
    def configuration_path(self) -> Path:
        """The absolute path of the configuration file; the file may not exist."""
        from sourcebook.config.paths import configuration_path

        return configuration_path(self.config_path)

    @cached_property
    def home(self) -> Path:
        """The state folder; it may not exist yet."""
        from sourcebook.config.paths import sourcebook_home

        return sourcebook_home(self.configuration_path)

    @cached_property
    def location(self) -> "DatabaseLocation":
        """The location of the database.

        Raises:
            ConfigurationError: there is no configuration, no state folder and no URL.
        """
        from sourcebook.database.location import DatabaseLocation

        if not self.is_named:
            _ = self.configuration  # raises an error with the path
        return DatabaseLocation.find(self.home)

    @property
    def is_named(self) -> bool:
        """Whether there is a configuration, a state folder or a URL: the location of the database is known."""
        import os

        from sourcebook.database.location import DatabaseLocation

        named = DatabaseLocation.find(self.home).url or os.environ.get("SOURCEBOOK_HOME") or self.home.exists()
        return bool(named) or self.configuration_path.exists()

    def is_empty(self, collections: Sequence[str] = ()) -> bool:
        """Return whether the database does not exist yet; opening it would create it, which takes seconds.

        Raises:
            ConfigurationError: its location is unknown.
            QueryError: the database does not exist and collections are named.
        """
        location = self.location
        if location.url is not None or (location.data_folder / "PG_VERSION").exists():
            return False
        if collections:
            raise QueryError(f"there is no collection {', '.join(collections)} yet: run sourcebook ingest")
        return True

    def open_database(self, *, max_connections: int = 8) -> "Database":
        """Open the database, creating it where it does not exist. Close it, or use it as a context manager.

        Raises:
            ConfigurationError: its location is unknown.
            DatabaseError: the database cannot be reached, is too old, or lacks pgvector.
            MissingDependencyError: the embedded server is not installed.
        """
        from sourcebook.database.database import Database

        return Database(self.location, max_connections=max_connections)

    @contextmanager
    def open_unchanged(self) -> Iterator["Database"]:
        """Open the database, or an empty one for the moment where it does not exist: nothing is left of that.

        Raises:
            ConfigurationError: its location is unknown.
            DatabaseError: as of `open_database`.
            MissingDependencyError: the embedded server is not installed.
        """
        if not self.is_empty():
            with self.open_database() as database:
                yield database
            return
        from tempfile import TemporaryDirectory

        from sourcebook.database.database import Database
        from sourcebook.database.location import DatabaseLocation

        with (
            TemporaryDirectory(prefix="sourcebook-") as folder,
            Database(DatabaseLocation(Path(folder) / "home")) as database,
        ):
            yield database
