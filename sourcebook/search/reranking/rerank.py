"""Order the first candidates of a search anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from psycopg import Connection

from sourcebook.chunking.embedding_text import embedding_text
from sourcebook.database.queries import queries
from sourcebook.search.candidate import Candidate
from sourcebook.search.reranking.reranker import Reranker
from sourcebook.search.reranking.settings import Reranking


@dataclass(frozen=True, slots=True)
class Reranked:
    """A ranking after reranking."""

    ranking: list[Candidate]
    """Best first: those that were reranked by what the model gives them, ties as they stood, then the others."""
    ms: float
    note: str | None = None
    """Why the ranking is as it was before; None where it was reranked."""


def rerank(
    reranker: Reranker, reranking: Reranking, query: str, ranking: Sequence[Candidate], texts: Mapping[int, str]
) -> Reranked:
    """Order the first `reranking.top` candidates by a cross encoder.

    Args:
        reranker: keeps the model.
        reranking: which model, how many candidates, how long at most.
        query: as the person wrote it.
        ranking: best first; at least `reranking.top` of them where there are so many, whatever page is wanted: else
            pages are cut from different orders.
        texts: from `read_texts`, by chunk id. A candidate without one has left the index, and is left out.

    Raises:
        ModelError: as `Reranker.score`. A timeout is no error.
    """
    first = [candidate for candidate in ranking[: reranking.top] if candidate.chunk_id in texts]
    if not first:
        return Reranked(list(ranking), 0.0)
    scored = reranker.score(reranking, query, [texts[candidate.chunk_id] for candidate in first])
    if scored.scores is None:
        return Reranked(
            list(ranking),
            scored.ms,
            f"reranking {len(first)} passages with {reranking.model} timed out after {reranking.timeout:g} seconds: "
            "they stand in the order of the fusion",
        )
    by_score = sorted(zip(first, scored.scores, strict=True), key=lambda pair: -pair[1])
    reranked = [replace(candidate, rerank_score=score) for candidate, score in by_score]
    return Reranked(reranked + list(ranking[reranking.top :]), scored.ms)


def read_texts(connection: Connection, generations: Sequence[int], chunks: Sequence[int]) -> dict[int, str]:
    """Return what a model reads of each chunk that is published: its title and headings, an empty line, its text."""
    parameters = {"generations": list(generations), "chunks": list(chunks)}
    rows = connection.execute(queries["passages_to_rerank"], parameters)
    return {chunk: embedding_text(context, text) for chunk, context, text in rows}
