"""A collection with several shards: its workers lose nothing, do nothing twice, and agree with a collection of one."""

import itertools
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from orchestration.definitions import defs
from orchestration.ingest import IngestedCollection, IngestEvents, ingest
from orchestration.instance import STORAGE_VARIABLE
from resources.knowledge import Knowledge
from resources.partition import COLLECTIONS
from sensors.abandoned_runs import IN_PROCESS, RECORDER
from sensors.changed_files import changed_files_sensor
from sensors.collections import collections_sensor
from sourcebook.admin import pending
from sourcebook.admin.pending import find_pending
from sourcebook.config.loading import load_configuration
from sourcebook.database.lock import (
    collection_lock,
    end_shard_work,
    is_at_rest,
    is_locked,
    is_shard_locked,
    shard_lock,
)
from sourcebook.errors import ConfigurationError
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.model.shard import Shard, bucket_of, shards_of
from sourcebook.stages.raw_files import Difference, compare
from sourcebook.stages.shards import items_of_shard, settle_shard
from sourcebook.web.due import due_pages
from tests.exported import link_model
from tests.integration.stages import Stages, html
from tests.unit.parsing.archives.archive_writer import zipped
from tests.waiting import wait_until

SHARDS = shards_of("handbook", 3)


@pytest.fixture
def sharded(
    stages: Stages, instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exported_model: Path
) -> Stages:
    """A collection of three shards over a folder with an archive and notes that each have a word of their own."""
    link_model(exported_model, tmp_path / "home")
    monkeypatch.setenv(STORAGE_VARIABLE, stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SOURCEBOOK_CONFIG", str(stages.root.parent / "sourcebook.yaml"))
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", stages.database.url)
    for number in range(12):
        stages.write(f"notes/{number}.md", f"# Note {number}\n\nThe word{number} is here.\n")
    for shard in shards_of("handbook", 6):  # each of two and of three shards has files, whatever the folder's path is
        names = (f"notes/more-{number}.md" for number in itertools.count())
        stages.write(next(name for name in names if shard.takes(stages.uri(name))), "# More\n\nA mizzen.\n")
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


def test_a_small_change_of_shards_is_done_before_its_runs_are_recorded(
    sharded: Stages, instance: dg.DagsterInstance
) -> None:
    """As with one shard: a few files start neither Dagster nor workers, and each shard has its run afterwards."""
    run(sharded)
    before = {each.run_id for each in instance.get_runs()}
    for number in range(12):
        sharded.write(f"notes/{number}.md", f"# Note {number}\n\nThe sextant{number} is here.\n")
    (sharded.root / "notes/11.md").unlink()
    done = run(sharded, records_beside=True, workers=2)
    sharded.assert_sound()
    assert (done.failed_items, done.assets["documents"]["changed"], done.assets["documents"]["removed"]) == (0, 11, 1)
    assert all(sharded.found(f"sextant{number}") == {f"{number}.md"} for number in range(11))
    assert run(sharded, records_beside=True).run_id is None

    def recorded() -> list[dg.DagsterRun]:
        return [each for each in instance.get_runs() if each.run_id not in before and each.is_success]

    wait_until(lambda: len(recorded()) == len(SHARDS), seconds=60)
    assert {each.tags["dagster/partition"] for each in recorded()} == {shard.key for shard in SHARDS}
    assert {each.tags[IN_PROCESS] for each in recorded()} == {RECORDER}


def tick(sensor: dg.SensorDefinition, instance: dg.DagsterInstance, cursor: str | None = None) -> dg.SensorResult:
    """Evaluate a sensor."""
    with dg.build_sensor_context(instance, cursor=cursor, resources={"knowledge": Knowledge()}) as context:
        result = sensor(context)
    assert isinstance(result, dg.SensorResult)
    return result


def test_shards_make_what_one_makes(
    sharded: Stages, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each shard has runs of its own; documents and index are those of one run, through changes and removals.

    Beside its runs, which list for themselves, a command lists the sources once.
    """
    listed: list[int] = []

    def counted(*given: Any) -> Difference:
        listed.append(1)
        return compare(*given)

    monkeypatch.setattr(pending, "compare", counted)
    assert sharded.rows("SELECT 1 FROM unnest(%(uris)s::text[]) AS uri WHERE item_bucket(uri) <> %(bucket)s",
                        uris=["https://A.example/ä?"], bucket=bucket_of("https://a.example/")) == []  # fmt: skip
    done = run(sharded)
    assert (done.failed_items, done.assets["documents"]["added"], len(listed)) == (0, 21, 1 + 3)
    roots = sharded.rows("SELECT uri, root, root_item('handbook', uri) FROM attachment_roots('handbook')")
    assert (
        [row["root"] for row in roots]
        == [row["root_item"] for row in roots]
        == [(sharded.root / "old.zip").as_uri()] * 2
    )
    assert partitions_with_runs(instance) == {shard.key for shard in SHARDS}
    sharded.assert_sound()
    assert sharded.found("keel") == {"keel.md", "old.zip"}  # which lists deep/keel.md
    assert all(sharded.found(f"word{number}") == {f"{number}.md"} for number in range(12))
    assert run(sharded).run_id is None
    sharded.write("notes/0.md", "# Note 0\n\nAnother sextant.\n")
    sharded.write("old.zip", zipped({"mast.txt": "A mast of pine."}))
    (sharded.root / "notes/1.md").unlink()
    listed.clear()
    before = instance.get_runs_count()
    run(sharded)
    assert len(listed) == 1 + instance.get_runs_count() - before
    sharded.assert_sound()
    assert (sharded.found("sextant"), sharded.found("word1"), sharded.found("keel")) == ({"0.md"}, set(), set())
    with sharded.connection() as connection:
        assert not find_pending(connection, "handbook", replace(EVERYTHING, thorough=True)).work
    run(sharded, replace(EVERYTHING, thorough=True, force=True))
    sharded.assert_sound()


def test_another_number_of_shards_loses_nothing(sharded: Stages, instance: dg.DagsterInstance) -> None:
    """A run of a former number is told in one sentence; partitions follow; what it left is done by the new shards."""
    assert run(sharded, shards=SHARDS[:1]).failed_items == 0
    assert 0 < sharded.rows("SELECT count(*) FROM document")[0]["count"] < 21
    cut(sharded, 2)
    instance.add_dynamic_partitions(COLLECTIONS, ["handbook:3of3"])
    job = defs.resolve_job_def("ingest").get_subset(asset_selection={dg.AssetKey("raw_files")})
    result = job.execute_in_process(
        instance=instance,
        partition_key="handbook:3of3",
        raise_on_error=False,
        resources={"knowledge": Knowledge()},
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        tags={"dagster/max_retries": "0"},
    )
    told = [event.event_specific_data.error for event in result.all_events if event.is_failure]  # type: ignore[union-attr]
    assert "its partitions are handbook:1of2 to handbook:2of2; start the run for these" in str(told)
    followed = tick(collections_sensor, instance)
    asked = [sorted(request.partition_keys) for request in followed.dynamic_partitions_requests or ()]
    assert asked == [["handbook:1of2", "handbook:2of2"], ["handbook", "handbook:1of3", "handbook:3of3"]]
    instance.add_dynamic_partitions(COLLECTIONS, asked[0])
    for key in asked[1]:
        instance.delete_dynamic_partition(COLLECTIONS, key)
    first = tick(changed_files_sensor, instance)
    looked = tick(changed_files_sensor, instance, first.cursor)  # a second reading has to agree
    assert [request.partition_key for request in looked.run_requests or ()] == asked[0]
    assert run(sharded, workers=2).assets["documents"]["failed"] == 0
    sharded.assert_sound()
    assert sharded.rows("SELECT count(*) FROM document WHERE removed_at IS NULL") == [{"count": 21}]
    cut(sharded, 1)
    sharded.write("notes/99.md", "# Note 99\n\nThe word99 is here.\n")
    run(sharded)
    sharded.assert_sound()
    assert sharded.found("word99") == {"99.md"}
    with pytest.raises(ConfigurationError, match="its partition is handbook"):  # also where there is nothing to do
        run(sharded, shards=SHARDS[:1])


def test_a_worker_without_the_folder_removes_nothing(stages: Stages) -> None:
    """Its files are not listed, never gone, and its error stays although the worker of another shard lists them."""
    for number in range(12):
        stages.write(f"{number}.md", f"# Note {number}\n")
    cut(stages, 2)
    one, two = (replace(EVERYTHING, shard=shard) for shard in shards_of("handbook", 2))
    assert 0 < stages.raw_files(one).added < 12
    stages.raw_files(two)
    away = stages.root.rename(stages.root.with_name("unmounted"))
    assert (stages.raw_files(two).failed, stages.raw_files(two).removed) == (1, 0)
    away.rename(stages.root)
    assert stages.raw_files(one).failed == 0
    error = "SELECT listing_error IS NULL AS listed FROM source"
    assert stages.rows(error) == [{"listed": False}]
    with stages.connection() as connection:
        assert not find_pending(connection, "handbook", replace(one)).newly_unlisted
        assert find_pending(connection, "handbook", two).newly_unlisted
    for name in ("1.md", "2.md", "3.md", "4.md"):
        (stages.root / name).unlink()
    gone = stages.raw_files(one).removed
    assert stages.rows(error) == [{"listed": False}]
    assert gone + stages.raw_files(two).removed == 4
    assert stages.rows(error) == [{"listed": True}]


def test_shards_work_beside_each_other_and_give_way(stages: Stages) -> None:
    """Shards exclude themselves, shards of another number, and the whole collection, which is let in first."""
    cut(stages, 2)
    database, (one, two) = stages.database, shards_of("handbook", 2)
    order: list[str] = []

    def whole() -> None:
        with collection_lock(database, "handbook", waiting=lambda: order.append("whole waits")):
            order.append("whole")

    def second() -> None:
        with shard_lock(database, two, waiting=lambda: order.append("second waits")):
            order.append("second")

    with shard_lock(database, one), stages.connection() as connection:
        with shard_lock(database, two):
            assert is_shard_locked(connection, two)
            assert not is_at_rest(connection, "handbook")
            assert not end_shard_work(connection, two) or not is_at_rest(connection, "handbook")
        assert not is_shard_locked(connection, two)
        assert is_locked(connection, "handbook")
        threads = [threading.Thread(target=whole), threading.Thread(target=second)]
        threads[0].start()
        wait_until(lambda: "whole waits" in order, what="the whole collection waits")
        threads[1].start()
        wait_until(lambda: "second waits" in order, what="the second shard waits")
    for thread in threads:
        thread.join(60)
    assert order == ["whole waits", "second waits", "whole", "second"]
    for nobodys in (Shard("handbook", 1, 4), Shard("handbook", 3, 2)):  # partitions may be added by hand
        with pytest.raises(ConfigurationError, match="whose setting `shards` is 2"):
            shard_lock(database, nobodys).__enter__()
    with stages.connection() as connection:
        assert not is_locked(connection, "handbook")


def test_a_site_is_crawled_by_the_shard_of_its_host(stages: Stages) -> None:
    """Its crawl, its due times and its pages are one worker's."""
    stages.web.page("/", html("Harbour", links=["/tides"]))
    stages.web.page("/tides", html("Tides"))
    stages.configure_site()
    (one,) = (shard for shard in shards_of("handbook", 2) if shard.takes(stages.web.url))
    (other,) = (shard for shard in shards_of("handbook", 2) if shard != one)
    with stages.connection() as connection:
        assert due_pages(connection, "handbook", replace(EVERYTHING, shard=other)).urls == 0
        assert due_pages(connection, "handbook", replace(EVERYTHING, shard=one)).urls > 0
    assert stages.crawled_pages(replace(EVERYTHING, shard=other)).total == 0
    assert stages.crawled_pages(replace(EVERYTHING, shard=one)).added == 2
    assert stages.documents(replace(EVERYTHING, shard=other)).added == 0
    assert stages.documents(replace(EVERYTHING, shard=one)).added == 2


def test_a_worker_on_older_code_is_made_good_by_the_newer_ones(stages: Stages) -> None:
    """What a shard was made with by other parsers is compared again, and only then is the collection settled."""
    for number in range(6):
        stages.write(f"{number}.md", f"# Note {number}\n")
    cut(stages, 2)
    one, two = shards_of("handbook", 2)
    for shard in (one, two):
        stages.raw_files(replace(EVERYTHING, shard=shard))
        stages.documents(replace(EVERYTHING, shard=shard))
    (settled,) = stages.rows("SELECT compared_with AS parsers FROM collection")
    assert settled["parsers"] is not None
    with stages.connection() as connection:
        assert not items_of_shard(connection, two, settled["parsers"], EVERYTHING)[3]
        settle_shard(connection, two, "older")
        assert items_of_shard(connection, two, settled["parsers"], EVERYTHING)[3]
    for shard in (two, one):
        stages.documents(replace(EVERYTHING, shard=shard))
    assert stages.rows("SELECT compared_with AS parsers FROM collection") == [settled]
    assert stages.rows("SELECT 1 FROM shard_state WHERE compared_with IS NOT NULL") == []
