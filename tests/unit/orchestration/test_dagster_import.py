"""Imports beside the creation of a database."""

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from orchestration import commands
from orchestration.commands import open_or_create_database

if TYPE_CHECKING:
    from sourcebook.cli.context import CommandContext


@pytest.mark.parametrize("is_empty", [True, False])
def test_dagster_is_imported_beside_the_creation_alone(monkeypatch: pytest.MonkeyPatch, is_empty: bool) -> None:
    """A look at a database that is there imports nothing; the import ends before the database is used."""
    loaded: list[str] = []
    monkeypatch.setattr(commands, "_import_dagster", lambda: loaded.append("dagster"))
    context = SimpleNamespace(is_empty=lambda: is_empty, open_database=lambda: "the database")
    opened: object = open_or_create_database(cast("CommandContext", context))
    assert opened == "the database"
    assert loaded == (["dagster"] if is_empty else [])


def test_a_package_that_is_missing_is_reported_by_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here it is no fault yet, and the command's own import names it."""
    monkeypatch.setitem(sys.modules, "dagster_postgres", None)
    commands._import_dagster()
