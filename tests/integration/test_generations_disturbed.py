"""Settings, models and collections that change while a generation builds; the active one stays whole meanwhile."""

from pathlib import Path
from shutil import rmtree

import pytest

from sourcebook import KnowledgeBase
from sourcebook.embedding.weights import bundled_folder
from sourcebook.errors import ConfigurationError, ModelError, QueryError
from sourcebook.indexing.generation_states import activate_generation
from tests.integration.built_generations import PAGES, build_first, configure, generations, partitions
from tests.integration.stages import Stages

OTHER = "collections:\n  other:\n    files: [{root: ./docs}]\n"


@pytest.fixture
def built(stages: Stages) -> Stages:
    """A collection with one generation of 64 tokens."""
    return build_first(stages)


def assert_whole(stages: Stages, tokens: int) -> None:
    """Assert that searches find every document, in the generation with passages of this length."""
    assert stages.generation.chunking_settings.tokens == tokens
    assert {name for word in ("tide", "wind", "snow") for name in stages.found(word)} == set(PAGES)


def test_settings_that_change_twice_within_a_run_leave_the_last_ones(built: Stages) -> None:
    """Each stage of the run finds other settings; the next run builds the last ones alone."""
    configure(built, 128)
    built.chunks()
    configure(built, 32)
    built.embeddings()
    configure(built, 96)
    built.search_index()
    assert built.finish() is None
    assert_whole(built, 64)
    built.run()
    assert built.finish() is not None
    assert_whole(built, 96)
    assert [each.chunking_settings.tokens for each in generations(built).earlier] == [64]
    assert len(partitions(built)) == 4
    assert not built.pending().work
    built.assert_sound()


def test_settings_that_change_back_within_a_run_end_the_build(built: Stages) -> None:
    first = built.generation
    configure(built, 128)
    built.chunks()
    configure(built, 64)
    built.embeddings()
    built.search_index()
    assert built.finish() is None
    assert (built.generation.id, generations(built).building) == (first.id, None)
    assert_whole(built, 64)
    assert partitions(built) == built.generation_tables()
    assert not built.pending().work
    built.assert_sound()


def test_a_collection_that_leaves_the_file_within_a_run_stops_it_and_loses_nothing(built: Stages) -> None:
    """The next stage names the collection and the remedy, and so does everything that asks for its generations."""
    first = built.generation
    configure(built, 128)
    built.chunks()
    building = generations(built).building
    assert building is not None
    built.configure(OTHER)
    for stage in (built.embeddings, built.search_index):
        with pytest.raises(ConfigurationError, match=r"no longer: add it to sourcebook\.yaml"):
            stage()
    with pytest.raises(QueryError, match=f"no generation {building.id}"):
        activate_generation(built.database, building.id)
    with pytest.raises(QueryError, match=f"no generation {first.id}"):
        built.search("tide", mode="keyword", generation=first.id)
    with pytest.raises(QueryError, match="no collection 'handbook'; there is other"):
        built.knowledge.generations("handbook")
    configure(built, 128)
    assert_whole(built, 64)
    built.run()
    activated = built.finish()
    assert activated is not None
    assert activated.id == building.id, "its build goes on"
    assert_whole(built, 128)
    built.assert_sound()


def test_a_generation_whose_model_is_gone_fails_by_itself(built: Stages) -> None:
    """A search that names it says which model is missing; its keywords and the active generation are searched."""
    configure(built, 128, activate="manual")
    built.run()
    built.rows(
        """UPDATE generation SET embedding = '{"model": "/gone/model"}', model = 'gone:0/float32' WHERE id = 2 """
        "RETURNING 1"
    )
    knowledge = KnowledgeBase(built.database)
    try:
        with pytest.raises(ModelError, match="/gone/model"):
            knowledge.search("tide", generation=2)
        assert knowledge.search("tide", generation=2, mode="keyword")
        assert knowledge.search("tide", mode="keyword").generations == (1,)
    finally:
        knowledge.release()


def test_a_generation_whose_model_is_gone_is_not_activated_by_hand(built: Stages, tmp_path: Path) -> None:
    """The sentence names the model and the remedy, searches go on, and the model that returns is enough."""
    first = built.generation
    configure(built, 128, activate="manual")
    built.run()
    second = generations(built).building
    assert second is not None
    weights = tmp_path / "gone" / "all-MiniLM-L6-v2"
    built.rows(
        "UPDATE generation SET embedding = jsonb_build_object('model', %(folder)s::text) WHERE id = %(id)s RETURNING 1",
        folder=str(weights),
        id=second.id,
    )
    with pytest.raises(ModelError) as refused:
        activate_generation(built.database, second.id)
    told = str(refused.value)
    assert told.startswith(f"generation {second.id} is not activated, its model cannot be opened on this machine: ")
    assert f"there is no folder {weights}. Put the model {weights} back" in told
    assert built.search("tide").generations == (first.id,)
    assert activate_generation(built.database, first.id).state == "active", "what is active stays so"
    weights.mkdir(parents=True)
    (weights / "model.safetensors").write_bytes(b"\x02" + bytes(7) + b"{}")  # whole, and without weights
    (weights / "config.json").write_text('{"hidden_size": 384, "max_position_embeddings": 512}')
    with pytest.raises(ModelError, match=f"not activated, .*other weights .*Put the model {weights} back"):
        activate_generation(built.database, second.id)
    bundled = bundled_folder()
    assert bundled is not None
    rmtree(weights)
    weights.symlink_to(bundled)
    assert activate_generation(built.database, second.id).state == "active"
    assert built.search("tide").generations == (second.id,)


def test_settings_with_a_model_that_is_gone_are_named_by_every_answer(built: Stages) -> None:
    """The plan before the ingest; after it the status, which also says that nothing more is to be done."""
    configure(built, model="/gone/model")
    (plan,) = built.knowledge.plan("handbook")
    assert {item.detail.partition("; ")[0] for item in plan.items} == {
        "embedding.model: all-MiniLM-L6-v2 → /gone/model"
    }
    assert all("/gone/model" in item.detail.partition("; ")[2] for item in plan.items)
    assert plan.texts_to_embed == 0
    built.run()
    assert built.finish() is None
    (status,) = built.knowledge.status("handbook")
    assert "/gone/model" in (status.generation_error or "")
    assert (status.generation, status.building) == (1, None)
    assert_whole(built, 64)
