"""The location of the database: URLs from the environment, or the embedded server in the state folder."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

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

    def __repr__(self) -> str:
        """Return the location without a password."""
        return f"DatabaseLocation({'SOURCEBOOK_DATABASE_URL' if self.url else self.data_folder})"
