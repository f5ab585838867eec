"""`sourcebook evaluate` on a small library, from the files to the exit code, as a newcomer runs it."""

import json

import psycopg
import pytest

from tests.acceptance.workplace import SECONDS, Workplace

DOCUMENTS = {
    "power.md": "# Power\n\nThe batteries last ninety hours when the electricity fails in a gale.\n",
    "levelling.md": "# Levelling\n\nThe benchmarks are levelled every September by the society.\n",
    "seal.md": "# Seal\n\nA seal lay on the steps, so that nobody could read the tide pole.\n",
    "windmill.md": "# Windmill\n\nThe windmill was painted in spring.\n",
}
QUESTIONS = {
    "power": "For how long is there current during an outage?",
    "seal": "Why could the water level not be read?",
    "levelling": "benchmarks September",
}
CHECKED = "SELECT event FROM event_logs WHERE dagster_event_type = 'ASSET_CHECK_EVALUATION' ORDER BY id"


@pytest.fixture
def asked(workplace: Workplace) -> tuple[str, ...]:
    """Four documents and three questions; the arguments that ask them."""
    workplace.configure(handbook="docs")
    for name, text in DOCUMENTS.items():
        workplace.write(f"docs/{name}", text)
    workplace.write(
        "queries.jsonl", "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in QUESTIONS.items())
    )
    workplace.write("qrels.tsv", "query\tdocument\tgrade\n" + "".join(f"{name}\t{name}.md\t1\n" for name in QUESTIONS))
    return ("--queries", "queries.jsonl", "--qrels", "qrels.tsv", "-c", "handbook")


@pytest.mark.usefixtures("model_was_exported")
def test_a_library_is_evaluated_in_every_mode(workplace: Workplace, asked: tuple[str, ...]) -> None:
    """Before the first ingest it says what to do; then come figures, a missed floor, and what the run's check said."""
    assert "run sourcebook ingest" in workplace.run("evaluate", *asked, code=2)
    settings = "{queries: queries.jsonl, qrels: qrels.tsv, mode: keyword, floors: {p@10: 0.1}}"
    workplace.configuration.write_text(f"{workplace.configuration.read_text()}    evaluation: {settings}\n")
    with workplace.database() as database:
        workplace.ingest()
        with psycopg.connect(database.dagster_url()) as connection:
            events = [event for (event,) in connection.execute(CHECKED)]
        (checked,) = [event for event in events if "search_is_good_enough" in event]
        assert "keyword: p@10 is 0.0" in checked, "one question shares no word with its answer"

        with workplace.start("evaluate", *asked, "--floor", "recall@10=1", "--floor", "p@10=0.9") as process:
            shown, said = process.communicate(timeout=SECONDS)
        assert (process.returncode, said) == (1, "")
        for part in (
            "nDCG@10",
            "hybrid",
            "vector",
            "keyword",
            "− vector",
            "3 queries asked of handbook",
            "few queries",
        ):
            assert part in shown
        assert "Missed: hybrid: p@10 is 0.1000, 0.8000 below the floor of 0.9." in shown
        assert "recall@10 is" not in shown, "four documents: all are found"

        workplace.write("qrels.tsv", "power\tnowhere.md\t1\n")
        said = workplace.run("evaluate", *asked, code=2)
        assert "none of the document ids in qrels.tsv" in said
        assert "nowhere.md" in said
        assert workplace.uri("docs/levelling.md") in said
