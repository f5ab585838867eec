"""A generation that answers judged questions worse than the active one does not take its place."""

import json
from pathlib import Path

import pytest

from assets.generation_check import check_next_generation
from sourcebook.admin.pending import Pending, find_pending
from sourcebook.contract.generations import GenerationState
from sourcebook.evaluation.gate import passes_gate
from sourcebook.indexing.generation_states import activate_generation, generation_states
from sourcebook.model.generation import Generation
from sourcebook.stages.generations import finish_generations
from tests.integration.stages import Stages

TEXT = """\
collections:
  handbook:
    files: [{{root: ./docs}}]
    chunking: {{tokens: {tokens}}}
    generations: {{gate: {{ndcg@10: {tolerance}}}}}
    evaluation: {{queries: queries.jsonl, qrels: qrels.tsv, mode: vector}}
"""
TOPICS = {
    "tide": "The tide gauge measures the level of the sea in the harbour.",
    "wind": "The anemometer on the mast measures the speed of the wind.",
    "snow": "In winter the depth of the snow is measured with a pole.",
    "bread": "The baker kneads flour, water and salt, and bakes the bread.",
    "train": "The locomotive pulls eleven waggons through the tunnel.",
}
QUESTIONS = {
    "tide": "How is the level of the sea measured?",
    "wind": "Which instrument measures the wind?",
    "snow": "How deep is the snow?",
    "bread": "Who bakes the bread?",
    "train": "What pulls the waggons?",
}


def configure(stages: Stages, tokens: int = 64, tolerance: float = -0.01) -> None:
    stages.configure(TEXT.format(tokens=tokens, tolerance=tolerance))


def finish(stages: Stages) -> Generation | None:
    """Do what the asset `index_upkeep` does at its end."""
    with stages.connection() as connection:
        return finish_generations(
            connection, stages.collection, lambda found: passes_gate(connection, stages.knowledge, found)
        )


def states(stages: Stages) -> list[GenerationState]:
    with stages.connection() as connection:
        return generation_states(connection, stages.collection)


def spoil(stages: Stages) -> None:
    """Give each passage of the generation being built the vector of another document's passage."""
    stages.rows(
        "WITH entry AS (SELECT chunk_id, coalesce(lead(vector) OVER every, first_value(vector) OVER every) AS other "
        "FROM search_entry WHERE generation_id = (SELECT building_generation_id FROM collection) "
        "WINDOW every AS (ORDER BY chunk_id)) "
        "UPDATE search_entry SET vector = entry.other FROM entry WHERE entry.chunk_id = search_entry.chunk_id "
        "RETURNING 1"
    )


def pending(stages: Stages) -> Pending:
    """Return the pending work without a comparison with the sums, which spoilt vectors do not fit."""
    with stages.connection() as connection:
        return find_pending(connection, stages.collection)


@pytest.fixture
def judged(stages: Stages) -> Stages:
    """A collection with judged questions, and a whole generation beside the active one."""
    folder = stages.root.parent
    for name, text in TOPICS.items():
        stages.write(f"{name}.md", f"# {name.title()}\n\n{text}\n")
    (folder / "queries.jsonl").write_text(
        "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in QUESTIONS.items())
    )
    (folder / "qrels.tsv").write_text("".join(f"{name}\t{name}\t1\n" for name in TOPICS))
    configure(stages)
    stages.run()
    configure(stages, 128)
    stages.run()
    return stages


def test_a_generation_that_is_as_good_becomes_active_and_keeps_its_scores(judged: Stages) -> None:
    activated = finish(judged)
    assert activated is not None
    active, before = states(judged)
    assert active.id == activated.id
    assert active.scores["ndcg@10"] == before.scores["ndcg@10"] > 0.9
    assert not judged.pending().work


def test_a_worse_one_is_blocked_by_a_measure_and_names_the_questions(judged: Stages) -> None:
    spoil(judged)
    assert finish(judged) is None
    active, blocked = states(judged)
    assert (active.chunking["tokens"], blocked.state) == (64, "blocked")
    assert "ndcg@10 is " in (blocked.blocked_by or "")
    assert "at most 0.01 is allowed; the questions that lose most: " in (blocked.blocked_by or "")
    assert any(f"{name} 1.000 → " in (blocked.blocked_by or "") for name in QUESTIONS)
    assert blocked.scores["ndcg@10"] < active.scores["ndcg@10"]
    assert not pending(judged).work, "nothing is tried until something changes"
    with judged.connection() as connection:
        check = check_next_generation(connection, judged.collection)
        assert not check.passed
        assert "ndcg@10" in (check.description or "")
        table = str(check.metadata["generations"].value).splitlines()
        assert [row.split(" | ")[1] for row in table[2:]] == ["active", "blocked"]
        assert f"ndcg@10 {blocked.scores['ndcg@10']:.3f}" in table[3]
        assert judged.status().building == blocked
    activate_generation(judged.database, blocked.id)  # a person may
    assert judged.generation.id == blocked.id


def test_a_change_of_questions_or_tolerance_opens_the_gate_again(judged: Stages) -> None:
    spoil(judged)
    assert finish(judged) is None
    configure(judged, 128, -1.0)
    assert pending(judged).generations == 1
    assert finish(judged) is not None
    assert judged.generation.chunking_settings.tokens == 128


def test_questions_that_cannot_be_asked_block_and_say_why(judged: Stages) -> None:
    path = Path(judged.root.parent / "qrels.tsv")
    content = path.read_text()
    path.unlink()
    assert finish(judged) is None
    assert "qrels.tsv" in (states(judged)[1].blocked_by or "")
    path.write_text(content)
    assert judged.pending().generations == 1
    assert finish(judged) is not None
