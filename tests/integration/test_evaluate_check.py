"""The asset check `search_is_good_enough` in real runs of Dagster over a real index."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg
import pytest

from orchestration.definitions import defs
from resources.knowledge import Knowledge
from resources.partition import COLLECTIONS
from tests.integration.stages import Stages

CONFIGURATION = """\
collections:
  handbook:
    files:
      - root: ./docs
"""
NAME = "search_is_good_enough"


@dataclass
class Runs:
    """Runs of what publishes, and of its checks."""

    stages: Stages
    instance: dg.DagsterInstance

    def configure(self, evaluation: str = "") -> None:
        self.stages.configure(CONFIGURATION + (f"    evaluation: {evaluation}\n" if evaluation else ""))

    def check(self) -> tuple[dg.AssetCheckEvaluation, bool]:
        """Publish, check, and return what the check said, and whether queries were asked for it."""
        job = defs.resolve_job_def("ingest").get_subset(asset_selection={dg.AssetKey("search_index")})
        result = job.execute_in_process(
            instance=self.instance,
            partition_key="handbook",
            resources={
                "knowledge": Knowledge(config_path=str(self.stages.root.parent / "sourcebook.yaml"), lock=False)
            },
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
        assert result.success, "a run does not fail on what a check finds"
        (found,) = [each for each in result.get_asset_check_evaluations() if each.check_name == NAME]
        log = [record.user_message for record in self.instance.all_logs(result.run_id)]
        return found, not any("neither the index nor the questions have changed" in line for line in log)


@pytest.fixture
def runs(stages: Stages) -> Iterator[Runs]:
    """Two documents, published, and questions about them, which no setting names yet."""
    stages.write("power.md", "# Power\n\nThe batteries last ninety hours in a gale.\n")
    stages.write("seal.md", "# Seal\n\nA seal lay on the steps of the tide pole.\n")
    folder = stages.root.parent
    (folder / "queries.jsonl").write_text(
        json.dumps({"id": "q1", "text": "batteries gale"}) + "\n" + json.dumps({"id": "q2", "text": "windmill seal"})
    )
    (folder / "qrels.tsv").write_text("q1\tpower\t1\nq2\tseal\t1\nq2\tlost\t1\n")
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(COLLECTIONS, ["handbook"])
        runs = Runs(stages, instance)
        runs.configure()
        stages.run()
        yield runs


def test_the_check_follows_settings_questions_and_index(runs: Runs) -> None:
    """It passes where nothing is asked or reached, fails where a floor is missed, and asks no question in vain."""
    found, _ = runs.check()
    assert found.passed
    assert found.description == "No questions are configured: see `evaluation` in sourcebook.yaml."

    runs.configure("{queries: queries.jsonl, qrels: qrels.tsv, mode: keyword, floors: {recall@10: 0.7, mrr: 1}}")
    found, asked = runs.check()
    assert (found.passed, asked, found.description) == (True, True, "Reached: 2 floors.")
    figures = {name: value.value for name, value in found.metadata.items()}
    assert (figures["mode"], figures["queries"], figures["mrr"], figures["recall@10"]) == ("keyword", 2, 1.0, 0.75)
    assert "| recall@10 | 0.750 (0.500 to 1.000) |" in str(figures["figures"])
    assert "not in the collection: 1 (lost)" in str(figures["notes"])

    # The same index, questions and settings: the same answer, without asking again.
    again, asked = runs.check()
    assert (again.passed, asked, again.metadata) == (True, False, found.metadata)

    # A floor is raised.
    settings = "{queries: queries.jsonl, qrels: qrels.tsv, mode: keyword, floors: {recall@10: 0.8}}"
    runs.configure(settings)
    found, asked = runs.check()
    assert (found.passed, asked, found.severity) == (False, True, dg.AssetCheckSeverity.ERROR)
    assert found.description == "keyword: recall@10 is 0.7500, 0.0500 below the floor of 0.8"
    again, asked = runs.check()
    assert (again.passed, again.description, asked) == (False, found.description, False)

    # The index changes: the lost document is there.
    runs.stages.write("lost.md", "# Lost\n\nThe windmill was painted.\n")
    runs.stages.run()
    found, asked = runs.check()
    assert (found.passed, asked) == (True, True)
    assert found.metadata["recall@10"].value == 1.0

    # A question changes.
    (runs.stages.root.parent / "qrels.tsv").write_text("q1\tseal\t1\n")
    found, asked = runs.check()
    assert (found.passed, asked) == (False, True)


@pytest.mark.parametrize(
    ("qrels", "told"), [(None, "qrels.tsv cannot be read"), ("q1\tpower\tyes\n", "line 1: the grade 'yes'")]
)
def test_questions_that_cannot_be_asked_fail_the_check_and_not_the_run(
    runs: Runs, qrels: str | None, told: str
) -> None:
    """The reason stands in the check; once it is mended the next run asks."""
    path = runs.stages.root.parent / "qrels.tsv"
    path.unlink()
    if qrels is not None:
        path.write_text(qrels)
    runs.configure("{queries: queries.jsonl, qrels: qrels.tsv, mode: keyword}")
    found, _ = runs.check()
    assert not found.passed
    assert told in str(found.description)
    path.write_text("q1\tpower\t1\n")
    found, asked = runs.check()
    assert (found.passed, asked) == (True, True)
