"""A project of `create-dagster`, by the commands of docs/dagster.md, with a component of dlt beside Sourcebook's."""

import importlib
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import psycopg
import pytest
from click.testing import CliRunner, Result
from psycopg.conninfo import make_conninfo

from sourcebook.knowledge_base import KnowledgeBase
from tests.checkout import CHECKOUT

PAGE = (CHECKOUT / "docs" / "dagster.md").read_text()
LOADS = """\
import dlt


@dlt.resource(primary_key="id")
def notes():
    yield {"id": 1, "heading": "Bell", "body": "The bell of the quay rings at low water."}


@dlt.source
def harbour():
    return notes


harbour_source = harbour()
database = dlt.destinations.duckdb("warehouse.duckdb")
harbour_pipeline = dlt.pipeline("harbour", destination=database, dataset_name="harbour")
"""
BOARD = """\
type: sourcebook.Collection

attributes:
  records:
    - name: notes
      table: {url: "duckdb:///../../../../warehouse.duckdb", schema: harbour, name: notes}
      key: id
      title: heading
      template: "{{ heading }}: {{ body }}"
      depends_on: [harbour/notes]
"""


@pytest.fixture
def run(served: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Result]]:
    """Run a command of create-dagster or dg in a new project, over a database of its own."""
    from create_dagster.cli import cli as create
    from dagster_dg_cli.cli import cli

    url = os.environ["SOURCEBOOK_DATABASE_URL"]
    alone = 'suppress_warnings = ["create_dagster_outdated"]'  # it asks PyPI for the newest version
    (tmp_path / "settings.toml").write_text(f"[cli]\n{alone}\n[cli.telemetry]\nenabled = false\n")
    for name, value in {
        "DLT_DATA_DIR": str(tmp_path / "dlt"),
        "DG_CLI_CONFIG": str(tmp_path / "settings.toml"),
        "SOURCEBOOK_DATABASE_URL": make_conninfo(url, dbname="quay"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    made = runner.invoke(create, ["project", "quay", "--no-uv-sync"])
    assert made.exit_code == 0, made.output
    monkeypatch.chdir(tmp_path / "quay")
    monkeypatch.syspath_prepend(str(tmp_path / "quay" / "src"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE quay")
        yield lambda *arguments: runner.invoke(cli, list(arguments))
        connection.execute("DROP DATABASE quay WITH (FORCE)")


def done(result: Result) -> str:
    assert result.exit_code == 0, result.output + str(result.exception)
    return result.output


def test_what_dlt_loads_in_a_project_becomes_searchable(run: Callable[..., Result]) -> None:
    """The page's commands work as typed; the lineage runs from dlt's asset; a mistake is named with its file."""
    (typed,) = re.findall(r"^```console\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    (written,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    outputs = [done(run(*line.split())) for line in re.findall(r"^\$ dg (.+)$", typed, flags=re.MULTILINE)]
    assert "sourcebook.Collection" in outputs[0]
    defs = Path("src/quay/defs")
    assert (defs / "handbook" / "defs.yaml").read_text() == written
    (defs / "handbook" / "documents" / "keys.md").write_text("# Keys\n\nThe keys of the lighthouse hang by the door.\n")

    done(run("scaffold", "defs", "dagster_dlt.DltLoadCollectionComponent", "notes"))
    loads = defs / "notes" / "defs.yaml"
    loads.write_text(loads.read_text().replace("my_load", "harbour"))
    (defs / "notes" / "loads.py").write_text(LOADS)
    (defs / "board").mkdir()
    (defs / "board" / "defs.yaml").write_text(BOARD.replace("template", "templat"))
    refused = run("check", "defs")
    assert refused.exit_code == 1
    assert "board/defs.yaml" in refused.output
    assert "records[0]: there is no such key" in refused.output
    (defs / "board" / "defs.yaml").write_text(BOARD)
    done(run("check", "defs"))
    listed: dict[str, Any] = json.loads(done(run("list", "defs", "--json")))
    (records,) = (each for each in listed["assets"] if each["asset_key"] == "sourcebook/source_records")
    assert "harbour/notes" in records["dependency_keys"]

    project: dg.Definitions = importlib.import_module("quay.definitions").defs()
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("sourcebook_collection", ["board", "handbook"])
        everything = project.resolve_implicit_global_asset_job_def()
        everything.execute_in_process(instance=instance, asset_selection=[dg.AssetKey(["harbour", "notes"])])
        ingest = project.resolve_job_def("sourcebook_ingest")
        for collection in ("board", "handbook"):
            assert ingest.execute_in_process(instance=instance, partition_key=collection).success
    with KnowledgeBase.connect() as knowledge:
        assert [hit.text for hit in knowledge.search("when does the bell ring", limit=1)] == [
            "Bell: The bell of the quay rings at low water."
        ]
        assert [hit.collection for hit in knowledge.search("keys of the lighthouse", limit=1)] == ["handbook"]
