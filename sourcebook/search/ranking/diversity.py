"""Diversity of results by maximal marginal relevance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.scope import array_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class StoredVector:
    """A passage's vector in the index."""

    model: str
    """Identity of the model; vectors of two models are not comparable."""
    vector: NDArray[np.float32]
    """Shape (dimensions,), of length 1."""


def diversify(
    ranking: Sequence[Candidate], vectors: Mapping[int, StoredVector], diversity: float, count: int
) -> list[Candidate]:
    """Return the candidates in the order of maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998).

    The next place goes to the candidate with the highest

        (1 - diversity) * relevance - diversity * (its highest similarity to a candidate that already has a place)

    Relevance is the score scaled to 0..1 among the candidates of one depth; similarity is the cosine similarity, 0
    between vectors of two models and where a vector is missing. Reranked candidates stay before the others, and
    candidates of a smaller depth before those of a greater one, so that a page does not depend on the depth. Takes
    O(count * candidates) similarities.

    Args:
        ranking: best first.
        vectors: by chunk id, from `read_vectors`.
        diversity: 0..1; 0 changes nothing, 1 ignores scores once the first place is given.
        count: number of places; the other candidates follow in their order.
    """
    if diversity == 0 or count < 1:
        return list(ranking)
    order: list[Candidate] = []
    for _, block in groupby(ranking, key=_block):
        if len(order) >= count:
            break
        order += _Block(list(block), order, vectors, diversity).best(count - len(order))
    chosen = {candidate.chunk_id for candidate in order}
    return order + [candidate for candidate in ranking if candidate.chunk_id not in chosen]


def read_vectors(connection: Connection, models: Mapping[int, str], chunks: Sequence[int]) -> dict[int, StoredVector]:
    """Return the vector of each published chunk by chunk id.

    Args:
        connection: in autocommit mode.
        models: identity of the model by generation id, of the generations that are searched.
        chunks: ids.
    """
    import numpy as np

    parameters = {"generations": list(models), "chunks": array_of(chunks)}
    with connection.cursor(binary=True) as cursor:
        rows = cursor.execute(queries["candidate_vectors"], parameters).fetchall()
    return {
        chunk: StoredVector(models[generation], half.to_numpy().astype(np.float32)) for chunk, generation, half in rows
    }


def _block(candidate: Candidate) -> int:
    """Return the group of candidates whose scores have one scale: 0 where reranked, else the depth."""
    return 0 if candidate.rerank_score is not None else candidate.depth


class _Block:
    """Candidates whose scores have one scale, and the highest similarity of each to a placed one."""

    def __init__(
        self,
        members: Sequence[Candidate],
        placed: Sequence[Candidate],
        vectors: Mapping[int, StoredVector],
        diversity: float,
    ) -> None:
        import numpy as np

        self._members = members
        self._vectors = vectors
        self._diversity = diversity
        self._relevance = _relevance(members)
        self._nearest = np.full(len(members), -np.inf)
        places: dict[str, list[int]] = {}
        for place, candidate in enumerate(members):
            if (stored := vectors.get(candidate.chunk_id)) is not None:
                places.setdefault(stored.model, []).append(place)
        self._of_model = {
            model: (known, np.stack([vectors[members[place].chunk_id].vector for place in known]))
            for model, known in places.items()
        }
        for candidate in placed:
            self._approach(candidate)

    def best(self, count: int) -> list[Candidate]:
        """Return so many candidates in the order of their places, or all where there are fewer."""
        import numpy as np

        waiting = np.ones(len(self._members), bool)
        chosen: list[Candidate] = []
        while len(chosen) < min(count, len(self._members)):
            similarity = np.where(np.isneginf(self._nearest), 0.0, self._nearest)  # nothing has a place yet
            marginal = (1 - self._diversity) * self._relevance - self._diversity * similarity
            place = int(np.argmax(np.where(waiting, marginal, -np.inf)))  # the first of equal ones
            waiting[place] = False
            chosen.append(self._members[place])
            self._approach(chosen[-1])
        return chosen

    def _approach(self, placed: Candidate) -> None:
        """Update the highest similarities with those to a candidate that now has a place."""
        import numpy as np

        similarity = np.zeros(len(self._members))
        stored = self._vectors.get(placed.chunk_id)
        if stored is not None and stored.model in self._of_model:
            places, matrix = self._of_model[stored.model]
            similarity[places] = matrix @ stored.vector
        np.maximum(self._nearest, similarity, out=self._nearest)


def _relevance(members: Sequence[Candidate]) -> NDArray[np.float64]:
    """Return the scores, or rerank scores, scaled to 0..1; all 1 where they are equal."""
    import numpy as np

    scores = np.array([each.score if each.rerank_score is None else each.rerank_score for each in members])
    lowest, highest = scores.min(), scores.max()
    if highest <= lowest:
        return np.ones(len(members))
    relevance: NDArray[np.float64] = (scores - lowest) / (highest - lowest)
    return relevance
