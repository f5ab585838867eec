"""Judgments of results: recorded by query and document, and asked by an evaluation without files."""

import pytest

from sourcebook.errors import QueryError
from sourcebook.evaluation import EvaluationError, evaluate
from tests.integration.stages import Stages


@pytest.fixture
def library(stages: Stages) -> Stages:
    stages.write("power.md", "# Power\n\nThe batteries last ninety hours in winter.")
    stages.write("leave.md", "# Leave\n\nSick leave is reported before nine.")
    stages.configure()
    stages.run()
    return stages


def test_judged_results_are_the_questions_of_an_evaluation(library: Stages) -> None:
    """A right answer that is found first has the best score; a later judgment replaces an earlier one."""
    knowledge = library.knowledge
    with pytest.raises(EvaluationError, match="no result was judged right"):
        evaluate(knowledge, library.collection)
    knowledge.judge("how long do batteries last", library.uri("power.md"))
    knowledge.judge("how long do batteries last", library.uri("leave.md"), 0)
    knowledge.judge("reporting sick", library.uri("power.md"))
    knowledge.judge("reporting sick", library.uri("power.md"), 0)
    knowledge.judge("reporting sick", library.uri("leave.md"), 2)
    assert [(each.query, each.uri.rpartition("/")[2], each.grade) for each in knowledge.judgments()] == [
        ("how long do batteries last", "leave.md", 0),
        ("how long do batteries last", "power.md", 1),
        ("reporting sick", "leave.md", 2),
        ("reporting sick", "power.md", 0),
    ]
    found = evaluate(knowledge, library.collection, modes=["hybrid"])
    assert found.queries == 2
    assert found.modes[0].estimates["ndcg@10"].mean == 1


def test_a_judgment_can_be_taken_back(library: Stages) -> None:
    knowledge, power = library.knowledge, library.uri("power.md")
    knowledge.judge("batteries", power)
    knowledge.judge(" batteries ", power, None)
    assert knowledge.judgments(library.collection) == []
    with pytest.raises(QueryError, match="was not judged"):
        knowledge.judge("batteries", power, None)
    with pytest.raises(QueryError, match="the query has 0 characters"):
        knowledge.judge("  ", power)
    with pytest.raises(QueryError, match="grade"):
        knowledge.judge("batteries", power, 100_000)
