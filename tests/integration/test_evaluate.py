"""Evaluation of a real collection, from Python and as `sourcebook evaluate`."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sourcebook import KnowledgeBase
from sourcebook.command.app import app
from sourcebook.database.database import Database
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.errors import QueryError
from sourcebook.evaluation import Evaluation, EvaluationError, evaluate
from sourcebook.evaluation.evaluate import rank_documents
from tests.integration.stages import Stages

QUERIES = {
    "q1": "How long do the batteries last when the electricity fails?",
    "q2": "benchmarks levelling",
    "q3": '-seal "on the steps" title: (OR',
    "q4": "Who painted the windmill?",
}
PAGES = {
    "power.md": "The batteries last ninety hours when the electricity fails in a gale.",
    "guide/levelling.md": "The benchmarks are levelled every September by the society.",
    "guide/seal.md": "A seal lay on the steps, so that nobody could read the tide pole.",
    "windmill.md": "The windmill was painted in spring.",
}


@pytest.fixture
def asked(stages: Stages) -> Stages:
    """A collection of four short documents and a long one, with queries and judgments beside it."""
    for name, text in PAGES.items():
        stages.write(name, f"# {Path(name).stem.title()}\n\n{text}\n")
    many = "\n\n".join(f"## Part {number}\n\nThe tide pole and the gauge, part {number}. " * 9 for number in range(12))
    stages.write("long.md", f"# Tides\n\n{many}\n")
    stages.configure()
    stages.run()
    write(
        stages, QUERIES, [("q1", "power", 1), ("q2", "guide/levelling.md", 2), ("q3", stages.uri("guide/seal.md"), 1)]
    )
    return stages


def write(stages: Stages, queries: dict[str, str], judgments: list[tuple[str, str, int]]) -> None:
    folder = stages.root.parent
    rows = [json.dumps({"id": name, "text": text}) for name, text in queries.items()]
    (folder / "queries.jsonl").write_text("\n".join(rows))
    (folder / "qrels.tsv").write_text("".join(f"{query}\t{name}\t{grade}\n" for query, name, grade in judgments))


def knowledge_base(database: Database, embedder: OnnxEmbedder) -> "closing[KnowledgeBase]":
    return closing(KnowledgeBase(Database(database.location), query_embedder=embedder))


def run(stages: Stages, embedder: OnnxEmbedder, **options: object) -> Evaluation:
    folder = stages.root.parent
    with knowledge_base(stages.database, embedder) as knowledge:
        return evaluate(knowledge, stages.collection, folder / "queries.jsonl", folder / "qrels.tsv", **options)  # type: ignore[arg-type]


def command(stages: Stages, *options: str) -> Result:
    """Run `sourcebook evaluate` by keywords, which needs no model."""
    folder = stages.root.parent
    files = ["--queries", str(folder / "queries.jsonl"), "--qrels", str(folder / "qrels.tsv")]
    result = CliRunner().invoke(app, ["evaluate", *files, "-c", stages.collection, "--mode", "keyword", *options])
    assert "Traceback" not in result.output
    return result


def test_each_mode_is_measured_on_the_judged_queries(asked: Stages, embedder: OnnxEmbedder) -> None:
    """Documents are found by name, by the end of their URI and by URI; the first mode is compared with the others."""
    done: list[tuple[int, int]] = []
    found = run(asked, embedder, progress=lambda now, total, failed=0: done.append((now, total)))
    assert (found.queries, found.unjudged, found.without_relevant, found.unmatched) == (3, 1, 0, ())
    assert [scores.mode for scores in found.modes] == ["hybrid", "vector", "keyword"]
    assert [(each.mode, each.against) for each in found.differences] == [("hybrid", "vector"), ("hybrid", "keyword")]
    assert done == [(number, 9) for number in range(1, 10)]
    for scores in found.modes:
        assert set(scores.estimates) == {"ndcg@10", "mrr", "recall@10", "recall@100", "p@10"}
        assert list(scores.per_query) == ["q1", "q2", "q3"]
        assert scores.ms_per_query > 0
        assert scores.estimates["recall@10"].mean == 1, "there are but five documents"
    assert found.of("hybrid").per_query["q1"] == {
        "ndcg@10": 1, "mrr": 1, "recall@10": 1, "recall@100": 1, "p@10": pytest.approx(0.1)
    }  # fmt: skip


def test_a_ranking_is_of_documents(asked: Stages, embedder: OnnxEmbedder) -> None:
    """A document of many passages takes one place: that of its best passage."""
    with knowledge_base(asked.database, embedder) as knowledge:
        passages = knowledge.search("tide pole gauge", asked.collection, limit=100, mode="keyword")
        ranking = rank_documents(knowledge, asked.collection, "tide pole gauge", depth=10, mode="keyword")
    assert len(passages) > 10
    assert len(ranking) == len(set(ranking)) == 2
    assert ranking == list(dict.fromkeys(hit.document_id for hit in passages))


def test_a_judged_document_that_is_not_there_counts_as_not_found(asked: Stages, embedder: OnnxEmbedder) -> None:
    """It lowers recall, and is shown; so does one that left the collection."""
    write(asked, QUERIES, [("q1", "power", 1), ("q1", "nowhere.md", 1), ("q4", "windmill", 1)])
    found = run(asked, embedder, modes=["keyword"])
    assert found.unmatched == ("nowhere.md",)
    assert found.modes[0].per_query["q1"]["recall@10"] == pytest.approx(0.5)
    (asked.root / "windmill.md").unlink()
    asked.run()
    found = run(asked, embedder, modes=["keyword"])
    assert found.unmatched == ("nowhere.md", "windmill")
    assert found.modes[0].per_query["q4"]["mrr"] == 0


def test_judgments_that_do_not_fit_the_collection_are_an_error(asked: Stages, embedder: OnnxEmbedder) -> None:
    """Ids that mean nothing at all, beside URIs and the rule; two names of one document: which grade would count?"""
    write(asked, QUERIES, [("q1", f"doc-{number}", 1) for number in range(5)])
    with pytest.raises(EvaluationError) as caught:
        run(asked, embedder, modes=["keyword"])
    for part in ("doc-0, doc-1, doc-2, …", "file://", "from a / on", "file name without the ending"):
        assert part in str(caught.value)
    write(asked, QUERIES, [("q1", "power", 1), ("q1", "power.md", 2)])
    with pytest.raises(EvaluationError, match=r"query 'q1' name one document twice: 'power' and 'power\.md'"):
        run(asked, embedder)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"modes": []}, "the modes are none"),
        ({"modes": ["fast"]}, "'fast'"),
        ({"modes": ["keyword", "keyword"]}, "'keyword', 'keyword'"),
        ({"depth": 9}, "it must be 10 to 1,000"),
        ({"depth": 1001}, "it must be 10 to 1,000"),
        ({"limit": 0}, "at least one query"),
    ],
)
def test_an_argument_that_makes_no_sense_is_an_error(
    stages: Stages, embedder: OnnxEmbedder, options: dict[str, object], told: str
) -> None:
    """Before any file is read."""
    with pytest.raises(QueryError, match=told):
        run(stages, embedder, **options)


def test_a_collection_that_is_unknown_or_empty_is_an_error(stages: Stages, embedder: OnnxEmbedder) -> None:
    """And says what there is, or what to do."""
    write(stages, QUERIES, [("q1", "power", 1)])
    with pytest.raises(QueryError, match="there is no collection 'handbook'; there is none yet: run sourcebook ingest"):
        run(stages, embedder)
    stages.configure()
    with pytest.raises(EvaluationError, match="holds no documents yet: run sourcebook ingest"):
        run(stages, embedder)


def test_the_command_tells_programs(asked: Stages) -> None:
    """One JSON object, with each query's values, which a later evaluation is compared with."""
    told = json.loads(command(asked, "--json", "-n", "2", "--depth", "50").stdout)
    assert (told["collection"], told["queries"], told["depth"], told["samples"]) == ("handbook", 2, 50, 10_000)
    assert set(told["modes"]["keyword"]) == {"ndcg@10", "mrr", "recall@10", "p@10", "ms_per_query"}
    assert told["modes"]["keyword"]["mrr"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert list(told["per_query"]["keyword"]) == ["q1", "q2"]
    assert (told["unjudged"], told["unmatched"], told["missed_floors"]) == (1, {"count": 0, "examples": []}, [])
    earlier = asked.root.parent / "before.json"
    earlier.write_text(json.dumps(told))
    later = json.loads(command(asked, "--json", "--baseline", str(earlier)).stdout)
    (difference,) = later["differences"]
    assert (difference["against"], difference["queries"], difference["mrr"]["mean"]) == ("before.json", 2, 0.0)
    assert "before.json" in command(asked, "--baseline", str(earlier)).stdout


def test_a_missed_floor_ends_with_1_and_wrong_use_with_2(asked: Stages) -> None:
    """The figures are printed with intervals all the same; a floor that is reached changes nothing."""
    reached = command(asked, "--floor", "mrr=1", "--floor", "recall@10=0.5")
    assert reached.exit_code == 0
    for part in ("nDCG@10", "MRR", "recall@100", "1.000–1.000", "3 queries asked of handbook", "10,000 bootstrap"):
        assert part in reached.stdout
    assert "Note: few queries: with 3" in reached.stdout
    assert "Note: queries without a judgment, which were not asked: 1." in reached.stdout
    missed = command(asked, "--floor", "P@10=0.5", "--floor", "mrr=1")
    assert missed.exit_code == 1
    assert "Missed: keyword: p@10 is 0.1000, 0.4000 below the floor of 0.5." in missed.stdout
    assert "nDCG@10" in missed.stdout
    told = json.loads(command(asked, "--floor", "p@10=0.5", "--json").stdout)
    assert told["missed_floors"] == ["keyword: p@10 is 0.1000, 0.4000 below the floor of 0.5"]
    for options in (
        ["--floor", "p=0.5"],
        ["--floor", "recall@100=0.5", "--depth", "20"],
        ["--depth", "5"],
        ["-n", "0"],
    ):
        assert command(asked, *options).exit_code == 2
    (asked.root.parent / "qrels.tsv").write_text("q1\tpower\tgood\n")
    wrong = command(asked)
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "qrels.tsv, line 1: the grade 'good'" in wrong.stderr


FILLER = "Later the keeper walked along the quay and wrote a letter to the society about the boats. " * 9
APART = {
    "north.md": f"The lantern is new. {FILLER} The beacon is old.",
    "south.md": f"The lantern of the lantern maker. {FILLER} It is in the cupboard.",
    "west.md": f"The beacon is on the hill. {FILLER}",
}
"""Documents on two words, which one has far apart: in one long passage, or in two short ones."""


def write_generations(stages: Stages) -> None:
    """Build a whole generation of short passages beside the active one, and judge a question that it answers worse."""
    for name, text in APART.items():
        stages.write(name, f"# {Path(name).stem.title()}\n\n{text}\n")
    stages.run()
    write(
        stages,
        {**QUERIES, "q5": "lantern beacon"},
        [("q1", "power", 1), ("q2", "guide/levelling.md", 2), ("q5", "north", 1)],
    )
    change_chunks(stages, 48)
    stages.run()


def change_chunks(stages: Stages, tokens: int) -> None:
    source = f"    files: [{{root: ./{stages.root.name}}}]\n"
    rules = f"    chunking: {{tokens: {tokens}}}\n    generations: {{activate: manual}}\n"
    stages.configure(f"collections:\n  handbook:\n{source}{rules}")


def test_two_generations_are_compared_query_by_query(asked: Stages) -> None:
    """The second one is subtracted from the first; the figures are those of each alone, and the questions are named."""
    write_generations(asked)
    told = json.loads(command(asked, "--generation", "2", "--generation", "1", "--json").stdout)
    long, short = (json.loads(command(asked, "--generation", number, "--json").stdout) for number in "12")
    assert json.loads(command(asked, "--json").stdout)["per_query"] == long["per_query"], "the active one is asked"
    assert (told["generation"], told["per_query"]) == (2, short["per_query"])
    (difference,) = told["differences"]
    assert (difference["mode"], difference["against"], difference["queries"]) == ("keyword", "generation 1", 3)
    for measure in ("ndcg@10", "mrr"):
        gain = short["modes"]["keyword"][measure]["mean"] - long["modes"]["keyword"][measure]["mean"]
        assert difference[measure]["mean"] == pytest.approx(gain)
    (change,) = told["questions"]
    before, after = (each["per_query"]["keyword"]["q5"]["ndcg@10"] for each in (long, short))
    assert change == {"query": "q5", "before": before, "after": after}
    assert after < before == 1
    shown = command(asked, "--generation", "2", "--generation", "1").stdout
    assert re.search(r"− generation .*\n  1\b", shown), shown
    assert f"Worse by nDCG@10 (keyword): q5 1.000 → {after:.3f}." in shown
    assert "Better" not in shown
    assert f"Better by nDCG@10 (keyword): q5 {after:.3f} → 1.000." in command(
        asked, "--generation", "1", "--generation", "2"
    ).stdout  # fmt: skip
    assert command(asked, "--generation", "2", "--generation", "2", "--json").stdout.count('"differences": []') == 1


def test_a_generation_that_lacks_documents_is_compared_with_a_note(asked: Stages) -> None:
    """Its figures are lower than they will be, which a reader has to know; one that is not there is an error."""
    write_generations(asked)
    asked.write("late.md", "# Late\n\nThe packet boat is late.\n")
    asked.raw_files()
    asked.documents()
    asked.rows(
        "UPDATE indexed_document SET published_hash = NULL WHERE (generation_id, document_id) = (2, 1) RETURNING 1"
    )
    notes = json.loads(command(asked, "--generation", "1", "--generation", "2", "--json").stdout)["notes"]
    assert notes[:2] == ["generation 1 has 8 of 9 documents", "generation 2 has 7 of 9 documents"]
    assert "Note: generation 2 has 7 of 9 documents." in command(asked, "--generation", "2").stdout
    missing = command(asked, "--generation", "1", "--generation", "99")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "there is no generation 99" in missing.stderr
    assert command(asked, *(f"--generation={number}" for number in (1, 2, 3))).exit_code == 2
