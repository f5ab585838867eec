"""The context of a command: configuration, state folder, database, and the knowledge base here or on a server."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import typer

from sourcebook.errors import ConfigurationError, QueryError, UnknownDocumentError

if TYPE_CHECKING:
    from sourcebook.client import RemoteKnowledgeBase
    from sourcebook.config.loading import Configuration
    from sourcebook.database.database import Database
    from sourcebook.database.location import DatabaseLocation
    from sourcebook.knowledge_base import KnowledgeBase

    Knowledge: TypeAlias = KnowledgeBase | RemoteKnowledgeBase


@dataclass(frozen=True)
class CommandContext:
    """The global options, and the configuration and database that they name; each is read on first use."""

    config_path: Path | None = None
    """Path from `--config` or SOURCEBOOK_CONFIG; None for the default."""
    server: str | None = None
    """URL from `--server` or SOURCEBOOK_SERVER; None for the knowledge base of this machine."""

    @classmethod
    def of(cls, ctx: typer.Context, *, may_be_served: bool = False) -> "CommandContext":
        """Return the context of the global options.

        Args:
            ctx: typer's.
            may_be_served: whether the command asks the knowledge base of a server as well.

        Raises:
            ConfigurationError: a server is named, and the command works on the knowledge base of this machine.
        """
        found = ctx.find_object(cls) or cls()
        if not may_be_served:
            found.refuse_server(f"sourcebook {ctx.info_name}")
        return found

    def refuse_server(self, what: str) -> None:
        """Refuse what works on the knowledge base of this machine where a server is named.

        Raises:
            ConfigurationError: one is.
        """
        if self.server is not None:
            raise ConfigurationError(
                f"{what} works on the knowledge base of this machine and not with --server: "
                "leave out --server and SOURCEBOOK_SERVER"
            )

    @cached_property
    def configuration(self) -> "Configuration":
        """The configuration file.

        Raises:
            ConfigurationError: the file is missing or invalid.
        """
        from sourcebook.config.loading import load_configuration

        return load_configuration(self.config_path)

    @property
    def mistake(self) -> str | None:
        """The mistake in the configuration file, with its line and column; None without one, or without a file."""
        try:
            _ = self.configuration if self.configuration_path.exists() else None
        except ConfigurationError as error:
            return str(error)
        return None

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

        The knowledge base of a server exists.

        Raises:
            ConfigurationError: its location is unknown.
            QueryError: the database does not exist and collections are named.
        """
        if self.server is not None:
            return False
        location = self.location
        if location.url is not None or (location.data_folder / "PG_VERSION").exists():
            return False
        if collections:
            raise QueryError(f"there is no collection {', '.join(collections)} yet: run sourcebook ingest")
        return True

    def knowledge(self, document: str | None = None) -> "Knowledge":
        """Open the knowledge base of this machine, or the one of the server; use it as a context manager.

        Args:
            document: a document that the command is about.

        Raises:
            UnknownDocumentError: there is no database yet, and so no document.
            ConfigurationError: the location of the database is unknown, or the URL or the key of the server is none.
            DatabaseError: as of `open_database`.
            MissingDependencyError: the embedded server, or the client of a server, is not installed.
        """
        if self.server is not None:
            from sourcebook.client import RemoteKnowledgeBase

            return RemoteKnowledgeBase(self.server)
        return self.own_knowledge(document)

    def own_knowledge(self, document: str | None = None) -> "KnowledgeBase":
        """Open the knowledge base of this machine; see `knowledge`."""
        if document is not None and self.is_empty():
            raise UnknownDocumentError(f"there is no document {document}: nothing was ingested yet")
        from sourcebook.knowledge_base import KnowledgeBase

        return KnowledgeBase(self.open_database())

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
