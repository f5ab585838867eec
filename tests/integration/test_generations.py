"""Other chunking or another model builds a generation beside the active one, which takes its place when it is whole."""

import pytest

from sourcebook.admin.removal import remove_items
from sourcebook.errors import ModelError
from sourcebook.indexing.activation import activate
from sourcebook.indexing.generation_states import generation_notes
from sourcebook.indexing.generations import ensure_generations
from tests.integration.built_generations import (
    PAGES,
    build_first,
    configure,
    days_pass,
    generations,
    partitions,
    passages,
)
from tests.integration.stages import Stages


@pytest.fixture
def built(stages: Stages) -> Stages:
    """A collection with one generation of 64 tokens."""
    return build_first(stages)


def test_settings_may_change_until_the_first_ingest(stages: Stages) -> None:
    configure(stages, 64)
    configure(stages, 128)
    assert stages.generation.chunking_settings.tokens == 128
    assert not stages.pending().generations


def test_a_changed_setting_builds_beside_the_active_generation_from_the_cached_parses(built: Stages) -> None:
    before = generations(built).active
    assert before is not None
    vectors = {row["text_hash"] for row in built.rows("SELECT text_hash FROM embedding")}
    configure(built, 128)
    assert built.pending().index == len(PAGES)
    reports = built.run()
    assert not any(reports[stage].worked for stage in ("raw_files", "documents")), "no file is read again"
    found = generations(built)
    assert found.active == before
    assert found.building is not None
    assert found.building.chunking_settings.tokens == 128
    assert reports["embeddings"].extra["computed"] == len(built.rows("SELECT 1 FROM embedding")) - len(vectors)
    assert built.found("tide") == {"tide.md"}, "searches find one generation's passages"
    activated = built.finish()
    assert activated is not None
    assert activated.id == found.building.id
    assert generations(built).active == built.generation
    assert built.generation.chunking_settings.tokens == 128
    assert built.found("tide") == {"tide.md"}
    assert not built.pending().work
    built.assert_sound()


def test_a_build_goes_on_where_it_was_interrupted_and_changes_reach_both_generations(built: Stages) -> None:
    configure(built, 128)
    built.chunks()
    built.write("fog.md", "# Fog\n\nThe fog horn sounds twice a minute.")
    built.write("tide.md", PAGES["tide.md"].replace("read at 3", "noted at 3"))
    (built.root / "snow.md").unlink()
    built.raw_files()
    built.documents()
    built.chunks()
    assert built.finish() is None, "a generation without its passages is not activated"
    built.embeddings()
    built.search_index()
    assert built.found("horn") == {"fog.md"}, "the active generation follows before the other one is active"
    assert built.finish() is not None
    assert built.found("horn") == {"fog.md"}
    assert built.found("noted") == {"tide.md"}
    assert not built.found("snow")
    assert not built.pending().work
    built.assert_sound()


def test_a_whole_generation_that_waits_for_a_person_follows_every_change(built: Stages) -> None:
    configure(built, 128, activate="manual")
    built.run()
    assert built.finish() is None
    assert not built.pending().work
    for text in ("The fog horn sounds twice.", "The fog bell sounds twice."):
        built.write("fog.md", text)
        assert built.pending().work
        built.run()
    waiting = generations(built).building
    assert waiting is not None
    with built.connection() as connection:
        activate(connection, waiting)
    assert built.found("bell") == {"fog.md"}
    assert not built.found("horn")
    assert not built.pending().work
    built.assert_sound()


def test_settings_that_change_back_end_the_build(built: Stages) -> None:
    configure(built, 128)
    built.chunks()
    abandoned = generations(built).building
    configure(built, 64)
    assert built.pending().generations
    built.run()
    assert built.finish() is None
    assert generations(built).building is None
    assert abandoned is not None
    assert not built.rows("SELECT 1 FROM chunk WHERE generation_id = %(number)s", number=abandoned.id)
    assert partitions(built) == built.generation_tables()
    assert not built.pending().work
    built.assert_sound()


def test_settings_that_change_while_a_generation_builds_replace_it(built: Stages) -> None:
    for tokens in (128, 32, 96):
        configure(built, tokens)
        built.chunks()
    built.run()
    built.finish()
    assert built.generation.chunking_settings.tokens == 96
    assert [each.chunking_settings.tokens for each in generations(built).earlier] == [64]
    assert len(partitions(built)) == 4
    assert not built.pending().work


def test_an_earlier_generation_comes_back_without_work(built: Stages) -> None:
    first = built.generation
    configure(built, 128)
    built.run()
    built.finish()
    built.write("fog.md", "The fog horn sounds twice.")
    (built.root / "snow.md").unlink()
    built.run()
    assert passages(built, first.id), "one earlier generation is kept"
    assert not built.rows(
        "SELECT 1 FROM search_entry entry JOIN document ON document.id = entry.document_id "
        "WHERE document.removed_at IS NOT NULL"
    ), "a removed document leaves every generation"
    configure(built, 64)
    report = built.run()["chunks"]
    built.finish()
    assert built.generation.id == first.id
    assert report.added == 1, "only the new document is cut"
    assert built.found("horn") == {"fog.md"}
    assert not built.found("snow")
    built.assert_sound()


def test_more_than_keep_are_deleted_once_no_search_can_use_them(built: Stages) -> None:
    first = built.generation
    configure(built, 128, keep=0)
    built.run()
    built.finish()
    assert f"search_entry_{first.id}" in partitions(built), "a search that began with it may be running"
    days_pass(built)
    assert built.pending().generations == 1
    built.finish()
    assert partitions(built) == built.generation_tables()
    assert not built.rows("SELECT 1 FROM chunk WHERE generation_id = %(number)s", number=first.id)
    assert not built.pending().work
    built.assert_sound()


def test_a_choice_of_a_person_stands_until_the_settings_change(built: Stages) -> None:
    first = built.generation
    configure(built, 128)
    built.run()
    built.finish()
    built.write("fog.md", "The fog horn sounds twice.")
    built.run()
    with built.connection() as connection:
        activate(connection, first)
    assert built.pending().index == 1, "what changed meanwhile is brought by the next ingest"
    built.run()
    assert built.finish() is None
    assert built.generation.id == first.id
    assert built.found("horn") == {"fog.md"}
    assert not built.pending().work
    configure(built, 96)
    built.run()
    built.finish()
    assert built.generation.chunking_settings.tokens == 96


def test_a_model_that_is_gone_stops_neither_the_active_generation_nor_a_way_back(built: Stages) -> None:
    configure(built, model="/no/such/folder")
    built.write("fog.md", "The fog horn sounds twice.")
    built.run()
    assert built.finish() is None
    assert built.found("horn") == {"fog.md"}
    with built.connection() as connection:
        (note,) = generation_notes(connection, built.collection)
    assert "/no/such/folder" in note
    configure(built)
    built.run()
    assert generations(built).error is None
    assert not built.pending().work


def test_a_model_that_is_gone_while_its_generation_builds_is_recorded(built: Stages) -> None:
    configure(built, 128)
    built.chunks()
    built.rows("""UPDATE generation SET embedding = '{"model": "/gone"}' WHERE id = 2 RETURNING 1""")
    built.rows("""UPDATE collection SET settings = settings || '{"embedding": {"model": "/gone"}}' RETURNING 1""")
    built.write("fog.md", "The fog horn sounds twice.")
    built.run()
    assert built.finish() is None
    (row,) = built.rows("SELECT failure FROM generation WHERE id = 2")
    assert "/gone" in row["failure"]
    assert built.found("horn") == {"fog.md"}


def test_a_failure_is_forgotten_once_its_generation_is_brought_up_to_date_alone(built: Stages) -> None:
    """Its model was gone while another generation was built beside it, and is back with the former settings."""
    configure(built, 128)
    built.chunks()
    built.rows("UPDATE generation SET failure = 'its model is gone' WHERE id = 1 RETURNING 1")
    configure(built)
    built.run()
    assert built.rows("SELECT failure FROM generation WHERE id = 1") == [{"failure": None}]


def test_a_collection_that_left_the_file_is_kept_and_its_build_goes_on_when_it_returns(built: Stages) -> None:
    configure(built, 128)
    built.chunks()
    building = generations(built).building
    assert built.configure("collections:\n  other:\n    files: [{root: ./docs}]\n").removed == ("handbook",)
    assert not built.search("tide", mode="keyword")
    configure(built, 128)
    assert generations(built).building == building
    assert built.found("tide") == {"tide.md"}
    built.run()
    assert built.finish() is not None


def test_a_removed_item_leaves_the_generation_that_builds(built: Stages) -> None:
    configure(built, 128)
    built.run()
    with built.connection() as connection:
        remove_items(connection, built.uri("tide.md"))
    assert not built.rows(
        "SELECT 1 FROM search_entry entry JOIN document ON document.id = entry.document_id WHERE uri = %(uri)s",
        uri=built.uri("tide.md"),
    )


def test_a_first_generation_needs_its_model(stages: Stages) -> None:
    configure(stages, model="/no/such/folder")
    with stages.connection() as connection, pytest.raises(ModelError, match="/no/such/folder"):
        ensure_generations(connection, stages.collection)
