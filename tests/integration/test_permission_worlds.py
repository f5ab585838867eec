"""Random worlds of documents, groups and permissions against an oracle: nothing seen without right, nothing missing."""

from tests.integration.http_server import serving
from tests.integration.stages import Stages
from tests.permissions.probe import Probe, without_waiting
from tests.permissions.worlds import Worlds


def test_principals_see_what_an_oracle_says(stages: Stages) -> None:
    """Every operation that is open to principals, by each face, in worlds that follow one another, and kept counts."""
    with serving(stages.knowledge, requires_key=True) as anyone:
        found = Worlds(stages, 47, anyone.port).run(6)
    assert not found.examples, "\n".join(found.examples)
    assert found.answers > 1_000


def test_no_answer_tells_that_a_hidden_document_is_there(stages: Stages) -> None:
    """Hits, scores, totals, facets, notes, errors and `ETag` are the same letters without, beside and after it."""
    with serving(stages.knowledge, requires_key=True, limits=without_waiting()) as anyone:
        told = Probe(stages, 47, anyone.port).run(3)
    assert not told, "\n".join(told)
