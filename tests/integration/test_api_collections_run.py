"""Collections of the API in the command, in Dagster's sensors and without any sourcebook.yaml."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from orchestration.commands import mistake_beside_last_good
from orchestration.configuration_in_force import configuration_in_force
from orchestration.ingest import IngestEvents, ingest
from orchestration.instance import STORAGE_VARIABLE, open_instance
from resources.partition import COLLECTIONS
from sensors.changed_files import changed_files_sensor
from sensors.collections import collections_sensor
from sourcebook import KnowledgeBase
from sourcebook.cli.context import CommandContext
from sourcebook.cli.sources import named_collections
from sourcebook.database.database import Database
from sourcebook.errors import ConfigurationError
from sourcebook.model.selection import EVERYTHING
from tests.exported import link_model
from tests.integration.cli.command import configure, run
from tests.integration.test_configuration_mistakes import evaluation, tick


@pytest.fixture
def here(
    dagster_tables: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exported_model: Path
) -> Path:
    """A current folder with two folders of documents, one of which the API may read; no configuration."""
    for name in ("SOURCEBOOK_CONFIG", "SOURCEBOOK_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    for name, text in (("docs", "The tide gauge stands in the harbour."), ("notes", "The seal is greased in spring.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"# {name.title()}\n\n{text}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", database.url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    link_model(exported_model, tmp_path / "home")
    monkeypatch.setenv("SOURCEBOOK_FOLDERS", str(tmp_path / "notes"))
    monkeypatch.setenv(STORAGE_VARIABLE, database.url)
    monkeypatch.setenv("DAGSTER_HOME", "")
    return tmp_path


@pytest.fixture
def instance(here: Path, database: Database) -> Iterator[dg.DagsterInstance]:
    """Dagster's instance, whose tables lie in this test's database."""
    instance = open_instance(here / "home", database)
    yield instance
    instance.dispose()


@pytest.fixture
def notes(here: Path) -> Path:
    """The same folder, with a collection of the API."""
    with KnowledgeBase.connect() as knowledge:
        knowledge.create_collection("notes", {"files": [{"root": str(here / "notes")}]})
    return here


def ingest_named(database: Database, *names: str) -> list[str]:
    """Ingest what the command would for these arguments; return the collections that had work."""
    context = CommandContext()
    chosen = named_collections(context, names, [])
    found = ingest(
        configuration_in_force(context), database, collections=chosen, selection=EVERYTHING, events=IngestEvents()
    )
    return [done.name for done in found if done.run_id is not None]


def test_the_command_ingests_it_without_a_configuration_and_beside_one(notes: Path, database: Database) -> None:
    assert ingest_named(database, "notes") == ["notes"]
    assert "Notes" in run("search", "seal").out
    assert not (notes / "sourcebook.yaml").exists()
    assert "notes: made over the API" in run("status").out
    assert run("status", "--json").json["collections"][0]["declared_in"] == "api"

    configure(notes, "handbook")
    assert ingest_named(database) == ["handbook"]
    assert run("apply").code == 0
    assert run("plan", "notes").code == run("reconcile", "notes").code == 0
    with KnowledgeBase.connect() as knowledge:
        assert {each.name: each.documents for each in knowledge.collections()} == {"handbook": 1, "notes": 1}


def test_the_command_adds_no_source_to_it_and_says_where(notes: Path) -> None:
    site = "https://docs.example.com/"
    for arguments in (
        ("add", "./docs", "-c", "notes"),
        ("ingest", "./docs", "-c", "notes"),
        ("crawl", site, "-c", "notes"),
    ):
        refused = run(*arguments)
        assert refused.code != 0
        assert "the API has made the collection notes: add sources to it over the API" in refused.err
    assert not (notes / "sourcebook.yaml").exists()
    configure(notes, "notes")
    refused = run("apply")
    assert "the API has made a collection of the name notes already: choose another name in the file" in refused.err


def test_without_a_configuration_only_what_the_api_has_made_is_in_force(notes: Path) -> None:
    assert configuration_in_force(CommandContext()).is_written is False
    assert mistake_beside_last_good(CommandContext()) is None
    configure(notes, "handbook")
    assert run("apply").code == 0
    (notes / "sourcebook.yaml").unlink()
    for asked in (configuration_in_force, mistake_beside_last_good):
        with pytest.raises(ConfigurationError, match="There is no configuration"):
            asked(CommandContext())
    with KnowledgeBase.connect() as knowledge:
        assert [each.name for each in knowledge.collections()] == ["handbook", "notes"]


def test_the_sensors_know_it_and_lose_it_when_it_is_deleted(notes: Path, instance: dg.DagsterInstance) -> None:
    added = tick(collections_sensor, instance)
    assert instance.get_dynamic_partitions(COLLECTIONS) == ["notes"]
    valid = evaluation(added)
    assert valid is not None
    assert valid.passed
    first = tick(changed_files_sensor, instance)
    second = tick(changed_files_sensor, instance, first.cursor)
    assert [request.partition_key for request in second.run_requests or ()] == ["notes"]

    configure(notes, "handbook")
    tick(collections_sensor, instance)
    assert sorted(instance.get_dynamic_partitions(COLLECTIONS)) == ["handbook", "notes"]
    with KnowledgeBase.connect() as knowledge:
        knowledge.delete_collection("notes")
    tick(collections_sensor, instance)
    assert instance.get_dynamic_partitions(COLLECTIONS) == ["handbook"]
