"""One folder of files with a configuration and a state folder of its own, and `sourcebook ingest` over it."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness.measure import Measurement, run
from sourcebook.config.loading import Configuration, load_configuration
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.embedding.embedder import QueryEmbedder
from sourcebook.embedding.weights import BUNDLED_NAME
from sourcebook.knowledge_base import KnowledgeBase

COLLECTION = "benchmark"
PROJECT = Path(__file__).resolve().parents[2]
_OF_ANOTHER_DATABASE = (
    "DAGSTER_HOME",
    "SOURCEBOOK_CONFIG",
    "SOURCEBOOK_DAGSTER_DATABASE_URL",
    "SOURCEBOOK_DATABASE_URL",
    "SOURCEBOOK_HOME",
)
_CONNECTIONS = 16
"""Connections of the pool, as many as `KnowledgeBase.connect` has."""
_EXIT_CODES = (0, 3)
"""Exit codes of a good ingest: 3 means failed items, which the folder of --corpus may hold."""


@dataclass(frozen=True)
class Ingest:
    """A run of `sourcebook ingest --json`."""

    measurement: Measurement
    collections: dict[str, dict[str, dict[str, Any]]]
    """Counts by collection and asset."""

    @property
    def counts(self) -> dict[str, dict[str, Any]]:
        """Counts by asset, for a library with one collection."""
        (counts,) = self.collections.values()
        return counts

    @property
    def computed(self) -> int:
        """Number of embedded texts."""
        return int(self.counts["embeddings"]["computed"])


@dataclass(frozen=True)
class Library:
    """A knowledge base of its own: `files/`, `sourcebook.yaml` and `home/` in one folder."""

    folder: Path

    @classmethod
    def make(
        cls,
        folder: Path,
        *,
        precision: str = "auto",
        collections: Sequence[str] = (COLLECTION,),
        model: str = BUNDLED_NAME,
    ) -> "Library":
        """Make an empty one."""
        library = cls(folder)
        lines = ["collections:"]
        for name in collections:
            library.files_of(name).mkdir(parents=True)
            lines += [
                f"  {name}:",
                f"    files: [{{root: ./{library.files_of(name).relative_to(folder)}}}]",
                f"    embedding: {{model: {model}, precision: {precision}}}",
            ]
        library.configuration_path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return library

    @property
    def files(self) -> Path:
        """Folder of its documents."""
        return self.folder / "files"

    def files_of(self, collection: str) -> Path:
        """Return the folder of a collection's documents; the default collection's is `files/` itself."""
        return self.files if collection == COLLECTION else self.files / collection

    @property
    def home(self) -> Path:
        """Its state folder."""
        return self.folder / "home"

    @property
    def configuration_path(self) -> Path:
        """Its `sourcebook.yaml`."""
        return self.folder / "sourcebook.yaml"

    @property
    def configuration(self) -> Configuration:
        """Its settings."""
        return load_configuration(self.configuration_path)

    def paths(self) -> list[Path]:
        """Return its files, in order."""
        return sorted(path for path in self.files.rglob("*") if path.is_file())

    def ingest(self, *collections: str) -> Ingest:
        """Run the whole command as a user would; the embedded server starts and stops with it unless it is in use."""
        measured = run(
            self.ingest_command(*collections),
            self.environment,
            server_folder=self.home / "postgres",
            accept=_EXIT_CODES,
        )
        try:
            told = json.loads(measured.output)
        except json.JSONDecodeError as error:
            message = f"{self.ingest_command(*collections)} printed no JSON but {measured.output[:2000]!r}"
            raise ValueError(message) from error
        return Ingest(measured, told["collections"])

    def ingest_command(self, *collections: str) -> list[str]:
        """Return the command that brings these collections up to date; all of them without a name."""
        program = Path(sys.executable).with_name("sourcebook")
        return [str(program), "--config", str(self.configuration_path), "ingest", "--json", *collections]

    @property
    def environment(self) -> dict[str, str]:
        """Environment of a program that works with this library."""
        return {**child_environment(), "SOURCEBOOK_HOME": str(self.home)}

    @contextmanager
    def database(self) -> Iterator[Database]:
        """Open its database; while it is open the embedded server keeps running."""
        with Database(DatabaseLocation(self.home)) as database:
            yield database

    @contextmanager
    def knowledge(self, query_embedder: QueryEmbedder | None = None) -> Iterator[KnowledgeBase]:
        """Open it for searching; while it is open the embedded server keeps running."""
        database = Database(DatabaseLocation(self.home), max_connections=_CONNECTIONS)
        with KnowledgeBase(database, query_embedder=query_embedder) as knowledge:
            yield knowledge

    def stop(self) -> None:
        """Stop its embedded server if an ended process left it running."""
        if (self.home / "postgres" / "postmaster.pid").exists():
            EmbeddedServer(self.home / "postgres").close()


def child_environment() -> dict[str, str]:
    """Return the environment of measured programs: no settings of another knowledge base, and no model hub."""
    kept = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER_DATABASE}
    return {**kept, "HF_HUB_OFFLINE": "1"}
