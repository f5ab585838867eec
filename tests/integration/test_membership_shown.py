"""What is taken is said by searches, lists, plans, exports and the sensor."""

import json
from pathlib import Path

import dagster as dg
import pytest

from resources.partition import COLLECTIONS
from sensors.changed_files import changed_files_sensor
from sourcebook.admin.collections import apply
from sourcebook.admin.items import find_document, list_items
from sourcebook.admin.planning.plan import make_plans
from sourcebook.admin.status import collection_statuses
from sourcebook.config.loading import load_configuration
from sourcebook.database.lock import collection_lock
from tests.integration.membership import (
    configure,
    page,
    run,
    take_policies,
)
from tests.integration.stages import Stages
from tests.integration.test_configuration_mistakes import tick


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Two policies and another page; `policies` takes the two."""
    return take_policies(stages)


def test_a_search_that_names_no_collection_finds_a_taken_document_once(base: Stages) -> None:
    """Unless the collection has sources of its own, whose documents are nowhere else."""
    found = base.search("green", mode="keyword", limit=50)
    assert {hit.collection for hit in found} == {"handbook"}
    assert {hit.collection for hit in base.search("green", collections=["handbook", "policies"], limit=50)} == {
        "handbook",
        "policies",
    }
    base.root.parent.joinpath("more").mkdir()
    configure(base, "{files: [{root: ./more}], from: {collection: handbook, tags: [policy]}}")
    assert {hit.collection for hit in base.search("green", limit=50)} == {"handbook", "policies"}


def test_a_document_is_shown_where_it_is_from_and_listed_where_it_is_taken(base: Stages) -> None:
    with base.connection() as connection:
        assert find_document(connection, base.uri("a.md")).item.collection == "handbook"
        found = find_document(connection, base.uri("a.md"), "policies")
        assert (found.item.taken_from, found.tags, len(found.passages)) == ("handbook", ["policy"], found.item.chunks)
        listed = {(item.collection, item.uri.rpartition("/")[2]): item.taken_from for item in list_items(connection)}
        assert listed["policies", "a.md"] == "handbook"
        assert listed["handbook", "a.md"] is None
        handbook, policies = collection_statuses(connection)
    assert (policies.documents, policies.stale, policies.failed) == (2, 0, 0)
    (rule,) = policies.sources
    assert (rule.kind, rule.location, rule.taken) == ("collection", "handbook", 2)
    assert [source.taken for source in handbook.sources] == [None]


def test_a_plan_says_what_is_taken_and_that_it_costs_no_embedding(base: Stages) -> None:
    base.write("a.md", page("alpha"))
    base.write("c.md", page("gamma", "policy"))
    file = base.root.parent / "sourcebook.yaml"
    with base.connection() as connection:
        _, before = make_plans(connection, load_configuration(file))
    assert (before.items, before.givers) == ((), ("handbook",))
    run(base, "handbook")
    with base.connection() as connection:
        _, after = make_plans(connection, load_configuration(file))
    found = {item.uri.rpartition("/")[2]: (item.reason.value, item.detail) for item in after.items}
    assert found == {"a.md": ("gone", "no longer taken from handbook"), "c.md": ("new", "taken from handbook")}
    assert (after.givers, after.texts_to_embed) == ((), 0)
    assert after.texts_cached > 0


def test_an_export_says_whose_a_document_is(base: Stages, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from sourcebook.transfer.export import export_collections

    export_collections(base.database, tmp_path / "out", ["handbook", "policies"], ("jsonl",))
    lines = (tmp_path / "out" / "policies" / "documents.jsonl").read_text().splitlines()
    assert [json.loads(line)["source"] for line in lines] == [{"kind": "collection", "location": "handbook"}] * 2


def test_the_sensor_lets_a_collection_wait_for_the_run_of_another(
    base: Stages, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that one run takes everything; its own changed files do not wait."""
    monkeypatch.setenv("SOURCEBOOK_HOME", str(base.root.parent / "home"))
    instance.add_dynamic_partitions(COLLECTIONS, ["policies"])
    base.write("c.md", page("gamma", "policy"))
    run(base, "handbook")
    with collection_lock(base.database, "handbook"):
        held = tick(changed_files_sensor, instance)
        assert "waiting for the run of handbook, whose documents it takes: policies" in str(held.skip_reason)
    found = tick(changed_files_sensor, instance, held.cursor)
    assert [request.partition_key for request in found.run_requests or ()] == ["policies"]


def test_settings_are_recorded_once_and_nothing_is_unsettled_by_a_second_look(base: Stages) -> None:
    with base.connection() as connection:
        applied = apply(connection, load_configuration(base.root.parent / "sourcebook.yaml"))
    assert applied.unchanged == ("handbook", "policies")
    assert base.rows("SELECT settings -> 'from' AS rules FROM collection ORDER BY name") == [
        {"rules": None},
        {"rules": [{"collection": "handbook", "tags": ["policy"], "tags_all": []}]},
    ]
