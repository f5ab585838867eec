"""The location of the database: URLs from the environment, or the embedded server in the state folder."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sourcebook.errors import DatabaseError

DATABASE_VARIABLE = "SOURCEBOOK_DATABASE_URL"
LIBRARY_DATABASE = "sourcebook"
DAGSTER_DATABASE = "dagster"


@dataclass(frozen=True, slots=True)
class DatabaseLocation:
    """A database URL, or the state folder in which the embedded server keeps its data.

    `SOURCEBOOK_DATABASE_URL` and `SOURCEBOOK_DAGSTER_DATABASE_URL` contain secrets: they are never logged.
    """

    home: Path
    url: str | None = None
    dagster_url: str | None = None

    @property
    def data_folder(self) -> Path:
        """The data folder of the embedded server."""
        return self.home / "postgres"

    @classmethod
    def find(cls, home: Path) -> Self:
        """Return the location from the environment; the state folder `home` is used without a URL."""
        return cls(
            home=home,
            url=os.environ.get(DATABASE_VARIABLE) or None,
            dagster_url=os.environ.get("SOURCEBOOK_DAGSTER_DATABASE_URL") or None,
        )

    @classmethod
    def existing(cls, url: str | None = None, home: str | Path | None = None) -> Self:
        """Return the location of a knowledge base that was made before.

        Args:
            url: a PostgreSQL URL; without it the environment's.
            home: the state folder; without it SOURCEBOOK_HOME, else `.sourcebook/` beside the configuration.

        Raises:
            DatabaseError: no URL is given, and the state folder has no embedded server's data.
        """
        if home is None:
            from sourcebook.config.loading import configuration_path, sourcebook_home

            home = sourcebook_home(configuration_path())
        found = cls.find(Path(home))
        if url is not None:
            return cls(found.home, url, found.dagster_url)
        if found.url is None and not found.data_folder.exists():
            raise DatabaseError(
                f"there is no knowledge base in {found.home}: run  sourcebook ingest  first, or say where it is "
                "with url=, home=, SOURCEBOOK_DATABASE_URL or SOURCEBOOK_HOME"
            )
        return found

    def __repr__(self) -> str:
        """Return the location without a password."""
        return f"DatabaseLocation({'SOURCEBOOK_DATABASE_URL' if self.url else self.data_folder})"
