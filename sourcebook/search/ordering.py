"""Order of the candidates on a page: reranked by a cross encoder, grouped by document, diversified."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from psycopg import Connection

from sourcebook.chunking.embedding_text import embedding_text
from sourcebook.contract.reranking import Reranking
from sourcebook.database.pool import HeldConnection
from sourcebook.database.queries import queries
from sourcebook.search.diversity import diversify, read_vectors
from sourcebook.search.fusion import Candidate
from sourcebook.search.request import SearchRequest
from sourcebook.search.reranking.reranker import Reranker
from sourcebook.search.search_scope import SearchScope


@dataclass(frozen=True, slots=True)
class Ordered:
    """Candidates in the order of the pages."""

    candidates: list[Candidate]
    """Best first; where they were reranked, the reranked ones stand before the others."""
    rerank_ms: float | None = None
    """Milliseconds that reranking took; None without it."""
    note: str | None = None
    """Reason why the candidates are not reranked although the request asks for it."""


def rerank_group_diversify(
    held: HeldConnection,
    reranker: Reranker,
    scope: SearchScope,
    request: SearchRequest,
    candidates: list[Candidate],
    documents: Mapping[int, int],
) -> Ordered:
    """Rerank, group and diversify the candidates, in this order, as far as the request asks for it.

    Args:
        held: connection of the search; given back while the model reranks.
        reranker: keeps the models.
        scope: the generations that are searched.
        request: the search.
        candidates: best first; at least as many as are reranked and shown up to the page, where there are so many.
        documents: document id by chunk id, from `read_documents`; used for grouping alone.
    """
    ordered = Ordered(candidates)
    if request.rerank and candidates:
        texts = read_texts(
            held.connection, scope.ids, [candidate.chunk_id for candidate in candidates[: request.rerank.top]]
        )
        with held.given_back():
            collection = scope.generations[0].collection  # of several the first, as with the embedding of a query
            ordered = rerank(reranker, request.rerank, request.query.text, candidates, texts, collection)
    if request.group_by:
        ordered = replace(ordered, candidates=group_by_document(ordered.candidates, documents))
    if request.diversity and ordered.candidates:
        models = {generation.id: generation.model for generation in scope.generations}
        vectors = read_vectors(held.connection, models, [candidate.chunk_id for candidate in ordered.candidates])
        shown = request.offset + request.limit + 1
        ordered = replace(ordered, candidates=diversify(ordered.candidates, vectors, request.diversity, shown))
    return ordered


def rerank(
    reranker: Reranker,
    reranking: Reranking,
    query: str,
    candidates: Sequence[Candidate],
    texts: Mapping[int, str],
    collection: str = "",
) -> Ordered:
    """Return the first `reranking.top` candidates by the scores of a cross encoder, then the others.

    Args:
        reranker: keeps the model.
        reranking: model, number of candidates and time limit.
        query: the query's text.
        candidates: best first; at least `reranking.top` where there are so many, whatever page is wanted: otherwise
            pages are cut from different orders.
        texts: by chunk id, from `read_texts`. A candidate without a text has left the index, and is left out.
        collection: the collection that the use of the model counts for.

    Raises:
        ModelError: as `Reranker.score`. A timeout is no error.
    """
    first = [candidate for candidate in candidates[: reranking.top] if candidate.chunk_id in texts]
    if not first:
        return Ordered(list(candidates), 0.0)
    scored = reranker.score(reranking, query, [texts[candidate.chunk_id] for candidate in first], collection)
    if scored.scores is None:
        return Ordered(
            list(candidates),
            scored.ms,
            f"reranking {len(first)} passages with {reranking.model} timed out after {reranking.timeout:g} seconds: "
            "they stand in the order of the fusion",
        )
    by_score = sorted(zip(first, scored.scores, strict=True), key=lambda pair: -pair[1])
    reranked = [candidate._replace(rerank_score=score) for candidate, score in by_score]
    return Ordered(reranked + list(candidates[reranking.top :]), scored.ms)


def read_texts(connection: Connection, generations: Sequence[int], chunks: Sequence[int]) -> dict[int, str]:
    """Return the text of each published chunk as the embedding model reads it: title, headings, empty line, passage."""
    parameters = {"generations": list(generations), "chunks": list(chunks)}
    rows = connection.execute(queries["passages_to_rerank"], parameters)
    return {chunk: embedding_text(context, text) for chunk, context, text in rows}


def group_by_document(candidates: Sequence[Candidate], documents: Mapping[int, int]) -> list[Candidate]:
    """Return the best candidate of each document with the document's others in `also`, documents in their order.

    `also` has the candidates of the same or a smaller depth than the best one: an extension of the ranked list, which a
    later page may need, changes no group of an earlier page.

    Args:
        candidates: best first.
        documents: document id by chunk id; a candidate without one has left the index, and is left out.
    """
    groups: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        document = documents.get(candidate.chunk_id)
        if document is not None:
            groups.setdefault(document, []).append(candidate)
    return [
        best._replace(also=tuple(other for other in others if other.depth <= best.depth))
        for best, *others in groups.values()
    ]


def read_documents(connection: Connection, generations: Sequence[int], chunks: Sequence[int]) -> dict[int, int]:
    """Return the document id of each chunk that is published in one of the generations."""
    parameters = {"generations": list(generations), "chunks": list(chunks)}
    return dict(connection.execute(queries["candidate_documents"], parameters).fetchall())
