"""Random worlds of documents, groups and permissions against an oracle: nothing seen without right, nothing missing."""

from tests.integration.stages import Stages
from tests.permissions.probe import Probe
from tests.permissions.worlds import Worlds


def test_principals_see_what_an_oracle_says(stages: Stages) -> None:
    """Every operation that is open to principals, in fifteen worlds that follow one another; kept counts are right."""
    found = Worlds(stages, seed=47).run(15)
    assert not found.examples, "\n".join(found.examples)
    assert found.answers > 1_000


def test_no_answer_tells_that_a_hidden_document_is_there(stages: Stages) -> None:
    """Hits, scores, totals, facets, notes and errors are the same letters without it, beside it and after it."""
    assert Probe(stages, seed=47).run(3) == []
