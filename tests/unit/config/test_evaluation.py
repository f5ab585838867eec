"""What `evaluation:` of a collection promises to the person who writes it."""

from pathlib import Path

import pytest

from sourcebook.config.evaluation import EvaluationSettings
from sourcebook.config.loading import load_configuration
from sourcebook.errors import ConfigurationError

MINIMAL = """\
collections:
  handbook:
    files:
      - root: ./docs
"""


def read(folder: Path, text: str) -> EvaluationSettings:
    """Return the settings of the only collection."""
    path = folder / "sourcebook.yaml"
    path.write_text(text)
    (collection,) = load_configuration(path).collections.values()
    return collection.evaluation


def test_nothing_has_to_be_set(tmp_path: Path) -> None:
    """Then nothing is evaluated; an empty mapping says the same."""
    assert read(tmp_path, MINIMAL) == EvaluationSettings()
    assert read(tmp_path, MINIMAL + "    evaluation: {}\n").queries is None


def test_every_setting_is_read_and_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    """They are found from wherever a command runs, as the roots of files are."""
    found = read(
        tmp_path,
        MINIMAL + "    evaluation:\n      queries: ./asked/queries.jsonl\n      qrels: asked/qrels.tsv\n"
        "      floors: {ndcg@10: 0.6, recall@100: 1}\n      mode: keyword\n",
    )
    asked = tmp_path.resolve() / "asked"
    assert (found.queries, found.qrels) == (str(asked / "queries.jsonl"), str(asked / "qrels.tsv"))
    assert found.floors == {"ndcg@10": 0.6, "recall@100": 1.0}
    assert found.mode == "keyword"


@pytest.mark.parametrize("text", [MINIMAL, MINIMAL + "    evaluation: {queries: q, qrels: r, floors: {p@10: 0}}\n"])
def test_settings_survive_the_way_through_the_database(tmp_path: Path, text: str) -> None:
    """What is kept as JSON reads back as it was."""
    found = read(tmp_path, text)
    assert EvaluationSettings.model_validate(found.model_dump(mode="json")) == found


BOTH = "queries: q.jsonl, qrels: q.tsv"


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ("{queries: q.jsonl}", ["line 5, column 17", "evaluation: the key qrels is missing", "file of judgments"]),
        ("{qrels: q.tsv}", ["evaluation: the key queries is missing"]),
        ("{floors: {mrr: 0.5}}", ["evaluation: the key queries is missing"]),
        (f"{{{BOTH}, floors: {{ndgc@10: 0.6}}}}", ["line 5, column 59", "'ndgc@10'", "the measures are ndcg@10, mrr"]),
        (f"{{{BOTH}, floors: {{mrr: 60}}}}", ["line 5, column 64", "found 60", "numbers from 0 to 1"]),
        (f"{{{BOTH}, floors: {{mrr: -1}}}}", ["found -1"]),
        (f"{{{BOTH}, floors: {{mrr: .nan}}}}", ["numbers from 0 to 1"]),
        (f"{{{BOTH}, floors: 0.6}}", ["evaluation.floors: found 0.6", "{ndcg@10: 0.6}"]),
        (f"{{{BOTH}, mode: fast}}", ["'fast'", "hybrid, vector or keyword"]),
        (f"{{{BOTH}, severity: warn}}", ["evaluation.severity: this setting is gone", "always an error"]),
        (f"{{{BOTH}, flors: {{}}}}", ["did you mean floors?"]),
        ("{queries: 3, qrels: q.tsv}", ["found 3", "JSON lines"]),
        ("", ["found nothing", "queries, qrels, floors, mode"]),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_is_allowed(tmp_path: Path, settings: str, parts: list[str]) -> None:
    """The message says where, what was found and what belongs there."""
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, MINIMAL + f"    evaluation: {settings}\n")
    for part in parts:
        assert part in str(caught.value)
