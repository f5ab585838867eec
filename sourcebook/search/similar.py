"""Documents similar to a document or to one of its passages: their vectors are nearest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from psycopg import Connection, sql

from sourcebook.contract.faces import advice
from sourcebook.contract.search_results import SearchResults
from sourcebook.contract.similar import SimilarRequest
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.search.page.best_part import with_snippet
from sourcebook.search.page.read_results import read_results
from sourcebook.search.page.relations import with_versions
from sourcebook.search.ranking.filter_conditions import condition_of
from sourcebook.search.ranking.fusion import DEEPEST, Candidate
from sourcebook.search.ranking.passages import read_documents
from sourcebook.search.ranking.state import SearchResources
from sourcebook.search.ranking.vector_leg import nearest
from sourcebook.search.scope import EntryCondition, ScopedGeneration, find_scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FIRST_DEPTH, _STEP = 100, 4
"""Passages that are compared at first, and the factor from one depth to the next."""


def similar_on(resources: SearchResources, document: int, request: SimilarRequest) -> SearchResults:
    """Return what `find_similar` does, over one of the connections that searches share."""
    with resources.connections.hold() as held:
        return find_similar(held.connection, document, request)


def find_similar(connection: Connection, document: int, request: SimilarRequest) -> SearchResults:
    """Return the documents most similar to one, best first: each with the passage that is nearest.

    The vector of a document is the mean of those of its passages, of length 1. Collections whose passages are embedded
    by another model are left out, which a note says. `score` and `vector_score` are cosine similarities.

    Args:
        connection: in autocommit mode, set as `sourcebook.database.database` sets it.
        document: id of the document.
        request: what is asked for.

    Raises:
        QueryError: the document is not searchable, or has no such passage, or a collection does not exist.
    """
    started = time.perf_counter()
    scope = find_scope(connection, request.collections)
    model, vector = _vector(connection, document, request.passage)
    generations = [each for each in scope.generations if each.model == model]
    left_out = sorted({each.collection for each in scope.generations if each.model != model})
    filtered = condition_of(request.filters, scope)
    candidates = _nearest_documents(connection, document, generations, vector, request, filtered) if generations else []
    results = tuple(
        with_snippet(result, ()) for result in read_results(connection, [each.id for each in generations], candidates)
    )
    redactions = {} if request.unredacted else scope.redactions
    if redactions:
        from sourcebook.search.page.redaction import redact_results

        results = redact_results(connection, results, redactions)
    results = with_versions(connection, results, scope.ids, filtered, redactions)
    notes = [f"{', '.join(left_out)}: the passages are embedded by another model"] if left_out else []
    return SearchResults(
        results,
        round((time.perf_counter() - started) * 1000, 3),
        {} if results else {"vector": "no other document has a passage with a vector"},
        len(candidates),
        notes=tuple(notes),
        generations=tuple(each.id for each in generations),
    )


def _vector(connection: Connection, document: int, passage: int | None) -> tuple[str, NDArray[np.float32]]:
    """Return the model and the vector of the document or passage, of shape (dimensions,) and length 1."""
    import numpy as np

    rows = connection.execute(queries["vectors_of_document"], {"document": document, "ordinal": passage}).fetchall()
    if not rows and passage is not None:
        raise QueryError(f"the document has no searchable passage {passage}{advice('passages', document=document)}")
    if not rows:
        raise QueryError("the document is not searchable: it has no passage with a vector")
    total = np.sum([vector.to_numpy().astype(np.float32) for _, vector in rows], axis=0)
    return str(rows[0][0]), total / max(float(np.linalg.norm(total)), 1e-12)


def _of_same_uri(connection: Connection, document: int) -> list[int]:
    """Return the ids of a document in every collection that has it."""
    return [number for (number,) in connection.execute(queries["documents_of_same_uri"], {"document": document})]


def _nearest_documents(
    connection: Connection,
    document: int,
    generations: Sequence[ScopedGeneration],
    vector: NDArray[np.float32],
    request: SimilarRequest,
    filtered: EntryCondition | None,
) -> list[Candidate]:
    """Return the nearest passage of each of the nearest documents."""
    # SQL here: a condition within the statements of the vector leg
    others = EntryCondition(
        sql.SQL("entry.document_id <> ALL(%(similar_to)s::bigint[])"),
        {"similar_to": _of_same_uri(connection, document)},
    )
    condition = EntryCondition.all_of([others, *([filtered] if filtered is not None else [])])
    ids = [each.id for each in generations]
    depth = _FIRST_DEPTH
    while True:
        ranking = nearest(connection, generations, vector, depth, condition)
        documents = read_documents(connection, ids, [chunk for chunk, _ in ranking.hits])
        best: dict[int, Candidate] = {}
        for rank, (chunk, score) in enumerate(ranking.hits, 1):
            if chunk in documents:
                best.setdefault(documents[chunk], Candidate(chunk, score, depth, vector_rank=rank, vector_score=score))
        if len(best) >= request.limit or len(ranking.hits) < depth or depth >= DEEPEST:
            return list(best.values())[: request.limit]
        depth = min(depth * _STEP, DEEPEST)
