"""A collection with several shards: its workers lose nothing, do nothing twice, and agree with a collection of one."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from orchestration.ingest import IngestedCollection, IngestEvents, ingest
from orchestration.instance import STORAGE_VARIABLE
from sourcebook.admin.pending import find_pending
from sourcebook.config.loading import load_configuration
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.model.shard import bucket_of, shards_of
from tests.integration.stages import Stages
from tests.unit.parsing.archives.archive_writer import zipped

SHARDS = shards_of("handbook", 3)


@pytest.fixture
def sharded(
    stages: Stages, instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exported_model: Path
) -> Stages:
    """A collection of three shards over a folder with an archive and notes that each have a word of their own."""
    shutil.copytree(exported_model / "models", tmp_path / "home" / "models", copy_function=os.link, dirs_exist_ok=True)
    monkeypatch.setenv(STORAGE_VARIABLE, stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    for number in range(12):
        stages.write(f"notes/{number}.md", f"# Note {number}\n\nThe word{number} is here.\n")
    stages.write("old.zip", zipped({"deep/keel.md": "# Keel\n\nA keel.\n", "mast.txt": "A mast of ash."}))
    cut(stages, 3)
    return stages


def cut(stages: Stages, number: int) -> None:
    files = {"files": [{"root": "./root" if stages.root.name == "root" else f"./{stages.root.name}"}], "shards": number}
    stages.configure(json.dumps({"collections": {"handbook": files}}))


def run(stages: Stages, selection: Selection = EVERYTHING, **options: Any) -> IngestedCollection:
    """Ingest as the command does."""
    configuration = load_configuration(stages.root.parent / "sourcebook.yaml")
    (done,) = ingest(
        configuration, stages.database, collections=[], selection=selection, events=IngestEvents(), **options
    )
    return done


def partitions_with_runs(instance: dg.DagsterInstance) -> set[str]:
    return {run.tags["dagster/partition"] for run in instance.get_runs()}


def test_shards_make_what_one_makes(sharded: Stages, instance: dg.DagsterInstance) -> None:
    """Each shard has runs of its own; documents and index are those of one run, through changes and removals."""
    assert sharded.rows("SELECT 1 FROM unnest(%(uris)s::text[]) AS uri WHERE item_bucket(uri) <> %(bucket)s",
                        uris=["https://A.example/ä?"], bucket=bucket_of("https://a.example/")) == []  # fmt: skip
    done = run(sharded)
    assert (done.failed_items, done.assets["documents"]["added"]) == (0, 15)
    assert partitions_with_runs(instance) == {shard.key for shard in SHARDS}
    sharded.assert_sound()
    assert sharded.found("keel") == {"keel.md"}
    assert all(sharded.found(f"word{number}") == {f"{number}.md"} for number in range(12))
    assert run(sharded).run_id is None
    sharded.write("notes/0.md", "# Note 0\n\nAnother sextant.\n")
    sharded.write("old.zip", zipped({"mast.txt": "A mast of pine."}))
    (sharded.root / "notes/1.md").unlink()
    run(sharded)
    sharded.assert_sound()
    assert (sharded.found("sextant"), sharded.found("word1"), sharded.found("keel")) == ({"0.md"}, set(), set())
    with sharded.connection() as connection:
        assert not find_pending(connection, "handbook", replace(EVERYTHING, thorough=True)).work
    run(sharded, replace(EVERYTHING, thorough=True, force=True))
    sharded.assert_sound()
