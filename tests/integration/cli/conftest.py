"""A folder with a collection, with a knowledge base, and ingested."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sourcebook.database.database import Database
from tests.integration.cli.command import Ingest, configure


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settle: Callable[[Path], None]) -> Path:
    """A folder with a configuration of one collection, as the current folder; no knowledge base yet."""
    for name in ("SOURCEBOOK_CONFIG", "SOURCEBOOK_HOME", "SOURCEBOOK_DATABASE_URL", "SOURCEBOOK_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "battery.md").write_text("# Batteries\n\n## Winter\n\nThe batteries last two winters.\n")
    (docs / "odd [red]name 'é'.txt").write_text("Drop the anchor in \x1b[31mfive\x07 fathoms [bold]always[/bold].\n")
    (docs / "picture.psd").write_bytes(b"8BPS\0\1")
    (docs / "broken.docx").write_bytes(b"PK\x03\x04 this is no archive")
    for file in docs.iterdir():
        settle(file)
    configure(tmp_path, "boat")
    return tmp_path


@pytest.fixture
def here(empty: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, with a knowledge base in which nothing was done yet."""
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", database.url)
    return empty


@pytest.fixture
def boat(here: Path, ingest: Ingest) -> Path:
    """The same, ingested."""
    ingest(here / "sourcebook.yaml")
    return here
