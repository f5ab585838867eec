"""Candidates of a bakeoff, the line that is marked as the best one, and the YAML for it."""

from itertools import product

import pytest
from ruamel.yaml import YAML

from sourcebook.config.passages import ChunkingSettings, EmbeddingSettings
from sourcebook.embedding.weights import BUNDLED_NAME
from sourcebook.evaluation.bakeoff.candidates import Choices, Indexing, indexings, search_options
from sourcebook.evaluation.bakeoff.outcome import COLUMNS, Bakeoff, BakeoffPlan, Line
from sourcebook.evaluation.errors import EvaluationError
from sourcebook.evaluation.scores import Estimate

PRESENT = Indexing(ChunkingSettings(), EmbeddingSettings(model=BUNDLED_NAME))


def found(largest: int = 512, **choices: object) -> list[Indexing]:
    return indexings(PRESENT, Choices(**choices), largest=largest)  # type: ignore[arg-type] # as a test gives them


def test_every_combination_is_a_candidate_once_beside_the_present_settings() -> None:
    """The present settings come first, and are not tried twice."""
    tried = found(
        tokens=("128", "256+32", "256"), models=(BUNDLED_NAME, "./folder"), contexts=("none", "title, headings")
    )
    assert tried[0] == PRESENT
    sizes = {(each.chunking.tokens, each.chunking.overlap) for each in tried}
    models = {each.embedding.model for each in tried}
    contexts = {each.chunking.context for each in tried}
    assert (sizes, models) == ({(128, 0), (256, 32), (256, 0)}, {BUNDLED_NAME, "./folder"})
    assert contexts == {(), ("title", "headings")}
    assert len(tried) == len({each.identity for each in tried}) == len([*product(sizes, models, contexts)])


def test_without_choices_one_setting_changes_at_a_time() -> None:
    """Sizes that the model cannot read are none."""
    one_change = [
        each for each in found() if (each.chunking == PRESENT.chunking) != (each.embedding == PRESENT.embedding)
    ]
    assert len(one_change) == len(found()) - 1
    assert {128, 512} <= {each.chunking.tokens for each in found()}
    assert 512 not in {each.chunking.tokens for each in found(largest=256)}


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"tokens": ("many",)}, "'many' is no size of passages"),
        ({"tokens": ("5",)}, "'5' is no size of passages"),
        ({"tokens": ("256+200",)}, "not less than half"),
        ({"contexts": ("chapter",)}, "'chapter' is no context: write some of title, headings, previous"),
        ({"models": ({"provider": "openai"},)}, "is no model"),
        ({"models": ({"model": "a", "dimension": 3},)}, "dimension"),
    ],
)
def test_a_wrong_choice_is_named(choices: dict[str, object], said: str) -> None:
    """With what may be written in its place."""
    with pytest.raises(EvaluationError, match=said):
        indexings(PRESENT, Choices(**choices), largest=512)  # type: ignore[arg-type] # wrong ones


@pytest.mark.parametrize(
    "settings",
    [
        {"tokens": 128, "overlap": 16, "context": ()},
        {"tokens": 512, "context": ("title",)},
    ],
)
@pytest.mark.parametrize(
    "embedding",
    [
        {"model": BUNDLED_NAME},
        {"model": "./models/my model", "precision": "float32"},
        {
            "model": "embed: small",
            "provider": "openai",
            "base_url": "http://localhost:1234/v1",
            "query_prefix": "query: ",
        },
    ],
)
def test_the_yaml_of_a_candidate_gives_its_settings(settings: dict[str, object], embedding: dict[str, object]) -> None:
    """Read back, in place of the same sections, it is the candidate; the present settings need no line."""
    candidate = Indexing(ChunkingSettings.model_validate(settings), EmbeddingSettings.model_validate(embedding))
    read = YAML(typ="safe").load(candidate.yaml("handbook", PRESENT))["collections"]["handbook"]
    assert ChunkingSettings.model_validate(read["chunking"]) == candidate.chunking
    assert EmbeddingSettings.model_validate(read.get("embedding", {"model": BUNDLED_NAME})) == candidate.embedding
    assert PRESENT.yaml("handbook", PRESENT) == ""


def test_rankings_are_options_of_a_search() -> None:
    """Both legs as by default, by ranks alone, or one leg."""
    assert [search_options(each) for each in ("hybrid", "rrf", "vector", "keyword")] == [
        ("hybrid", None),
        ("hybrid", "rrf"),
        ("vector", None),
        ("keyword", None),
    ]


def test_only_a_line_that_is_better_beyond_chance_is_the_best() -> None:
    """A higher mean does not do, nor does an interval that begins at 0."""
    lines = [_line(0.5, 0.0, present=True), _line(0.9, -0.01), _line(0.8, 0.0)]
    plan = BakeoffPlan("handbook", {"judged": 40}, 10, 100, (), ("hybrid",))
    assert Bakeoff(plan, tuple(lines)).best is None
    better = [_line(0.6, 0.02), _line(0.7, 0.01)]
    assert Bakeoff(plan, (*lines, *better)).best is better[1]
    assert Bakeoff(plan, (*lines, *better)).as_dict()["best"] == 4
    assert Bakeoff(plan, tuple(lines)).notes == (
        "among the documents of the sample an answer is found more easily than among all",
    )


def _line(mean: float, low: float, *, present: bool = False) -> Line:
    estimates = dict.fromkeys(COLUMNS, Estimate(mean, mean, mean))
    differences = dict.fromkeys(COLUMNS, Estimate(low + 0.1, low, low + 0.2))
    return Line(PRESENT, "hybrid", present, estimates, differences, 10, 10, 10, 1.0, 0, 1.0, "")
