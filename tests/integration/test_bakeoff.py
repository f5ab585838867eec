"""A bakeoff over a real collection: its candidates and figures, what it leaves, and what the command says."""

import json
from collections.abc import Sequence
from contextlib import closing

import pytest
from typer.testing import CliRunner, Result

from sourcebook.command.app import app
from sourcebook.database.database import Database
from sourcebook.database.scratch import PREFIX
from sourcebook.evaluation import evaluate
from sourcebook.evaluation.bakeoff import Choices, bakeoff, prepare_bakeoff
from sourcebook.evaluation.errors import EvaluationError
from sourcebook.knowledge_base import KnowledgeBase
from tests.integration.stages import Stages

TOPICS = ("kayak", "lantern", "barometer", "ferry")
CHOICES = Choices(tokens=("64",), rankings=("hybrid", "keyword"))


@pytest.fixture
def station(stages: Stages) -> Stages:
    """Documents that name their thing in two headings alone, from which questions are made."""
    for number, topic in enumerate(TOPICS):
        parts = [
            f"## Care of the {topic} in {part}\n\n"
            + f"The keeper looks at it and writes the {part} into the book. " * 12
            for part in ("spring", "autumn")
        ]
        stages.write(f"sheet-{number}.md", "\n\n".join([f"# Sheet {number}\n\nA thing of the station.", *parts]))
    stages.configure()
    stages.run()
    return stages


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["bakeoff", "-c", "handbook", *arguments])


def kept_vectors(stages: Stages) -> int:
    return int(stages.rows("SELECT count(*) FROM embedding")[0]["count"])


def contents(stages: Stages) -> Sequence[object]:
    """Everything that searches and ingests go by."""
    tables = ("collection", "generation", "document", "parsed_content", "chunk", "search_entry", "lexeme", "judgment")
    return [stages.rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in tables]


def test_a_bakeoff_compares_candidates_and_leaves_new_vectors_alone(station: Stages, database: Database) -> None:
    """Each candidate is a generation over the same documents; the next bakeoff computes none of its vectors again."""
    before = contents(station)
    vectors = kept_vectors(station)
    shown: list[str] = []
    with closing(KnowledgeBase(Database(database.location))) as knowledge:
        found = bakeoff(knowledge, "handbook", CHOICES, progress=lambda now, done, total: shown.append(now))
        again = bakeoff(knowledge, "handbook", CHOICES)
    assert found.plan.questions == {"heading": 8}
    assert [(line.indexing.chunking.tokens, line.ranking) for line in found.lines] == [
        (256, "hybrid"),
        (256, "keyword"),
        (64, "hybrid"),
        (64, "keyword"),
    ]
    assert [line.is_present for line in found.lines] == [True, False, False, False]
    small, present = found.lines[2], found.lines[0]
    assert small.passages > present.passages
    assert small.vector_bytes > 2 * 384 * small.passages
    assert small.ms_per_query > 0
    assert small.yaml == "collections:\n  handbook:\n    chunking: {tokens: 64}"
    assert all(0 <= estimate.low <= estimate.high <= 1 for estimate in small.estimates.values())
    # Words of the questions are in no document any more.
    assert found.lines[1].estimates["ndcg@10"].mean < 1
    assert [line.computed for line in again.lines] == [0, 0, 0, 0]
    assert [line.estimates for line in again.lines] == [line.estimates for line in found.lines]
    assert "2 of 2, asking by keyword" in shown
    assert contents(station) == before
    assert kept_vectors(station) > vectors
    assert not station.rows("SELECT datname FROM pg_database WHERE starts_with(datname, %(prefix)s)", prefix=PREFIX)


def test_judged_questions_come_first_and_their_documents_are_in_the_sample(station: Stages, database: Database) -> None:
    """Others are made beside few; over all documents the line of the present settings is what `evaluate` says."""
    with closing(KnowledgeBase(Database(database.location))) as knowledge:
        for number in range(2):
            knowledge.judge(f"Who mends the {TOPICS[number]}?", station.uri(f"sheet-{number}.md"))
        prepared = prepare_bakeoff(knowledge, "handbook", CHOICES, sample=1, limit=3)
        with pytest.raises(EvaluationError, match="both must be 1 or more"):
            prepare_bakeoff(knowledge, "handbook", CHOICES, sample=0)
        alone = bakeoff(knowledge, "handbook", Choices(tokens=("256",), rankings=("hybrid",)), limit=2)
        evaluated = evaluate(knowledge, "handbook", modes=["hybrid"])
    assert [line.estimates["ndcg@10"] for line in alone.lines] == [evaluated.of("hybrid").estimates["ndcg@10"]]
    assert prepared.plan.questions == {"judged": 2, "heading": 1}
    assert (prepared.plan.documents, prepared.plan.live_documents) == (2, 4)
    assert [*prepared.questions.texts.values()][:2] == ["Who mends the kayak?", "Who mends the lantern?"]


def test_the_command_begins_nothing_unasked(station: Stages) -> None:
    """It shows the plan; `--yes` begins, and a model that cannot be found is named beside the lines."""
    choices = ("--context", "none", "--ranking", "keyword", "--model", "no-such-model")
    plan = command("--tokens", "64", "--model", "all-MiniLM-L6-v2")
    assert plan.exit_code == 0, plan.output
    assert "8 headings; 4 of 4 documents" in plan.output
    assert "Nothing is begun: --yes begins it." in plan.output
    said = json.loads(command(*choices, "--json").stdout)["plan"]
    assert [each["candidate"] for each in said["indexes"]] == ["256 tokens, title and headings, all-MiniLM-L6-v2"]
    assert "no-such-model" in said["left_out"][0]
    shown = command(*choices, "--yes")
    assert shown.exit_code == 0, shown.output
    assert "present: 256 tokens, title and headings, all-MiniLM-L6-v2, keyword" in shown.output
    assert "Note: not compared: 256 tokens, no context, no-such-model" in shown.output
    assert "No line is better than the present settings by more than chance." in shown.output
