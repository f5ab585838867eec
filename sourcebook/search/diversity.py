"""Results that do not all say the same: maximal marginal relevance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.search.candidate import Candidate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class StoredVector:
    """A passage's vector as it lies in the index."""

    model: str
    """Identity of the model: vectors of two models say nothing of each other."""
    vector: "NDArray[np.float32]"
    """Shape (dimensions,), of length 1."""


def diversify(
    ranking: Sequence[Candidate], vectors: Mapping[int, StoredVector], diversity: float, count: int
) -> list[Candidate]:
    """Return the candidates in the order of maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998).

    Each place goes to the candidate with the highest

        (1 - diversity) * relevance - diversity * (its highest similarity to one that has a place already)

    Relevance is the score scaled to 0..1 among the candidates of one depth; similarity is the cosine, 0 between
    vectors of two models and where a vector is missing. Reranked candidates stand before those that were not, those of
    a smaller depth before those of a deeper look, as they did: what a page shows does not depend on how deep it goes.
    Takes O(count * candidates) similarities.

    Args:
        ranking: best first.
        vectors: by chunk id.
        diversity: 0..1; 0 changes nothing, 1 looks at no score once the first place is given.
        count: how many places are wanted; the others follow in the order they had.
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
    """Return the vector of each chunk that is published, by chunk id.

    Args:
        connection: in autocommit mode.
        models: identity of the model by generation id; the generations that are searched.
        chunks: ids.
    """
    import numpy as np

    parameters = {"generations": list(models), "chunks": list(chunks)}
    with connection.cursor(binary=True) as cursor:
        rows = cursor.execute(queries["candidate_vectors"], parameters).fetchall()
    return {
        chunk: StoredVector(models[generation], half.to_numpy().astype(np.float32)) for chunk, generation, half in rows
    }


def _block(candidate: Candidate) -> int:
    """Return what is alike for candidates whose scores are of one scale."""
    return 0 if candidate.rerank_score is not None else candidate.depth


class _Block:
    """Candidates whose scores are of one scale, and how near each is to what has a place."""

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
        """Give places to so many, or to as many as there are."""
        import numpy as np

        waiting = np.ones(len(self._members), bool)
        chosen: list[Candidate] = []
        while len(chosen) < min(count, len(self._members)):
            likeness = np.where(np.isneginf(self._nearest), 0.0, self._nearest)  # nothing has a place yet
            marginal = (1 - self._diversity) * self._relevance - self._diversity * likeness
            place = int(
                np.argmax(np.where(waiting, marginal, -np.inf))
            )  # of equal ones the first: they keep their order
            waiting[place] = False
            chosen.append(self._members[place])
            self._approach(chosen[-1])
        return chosen

    def _approach(self, placed: Candidate) -> None:
        """Take in how near each one is to one that was given a place."""
        import numpy as np

        likeness = np.zeros(len(self._members))
        stored = self._vectors.get(placed.chunk_id)
        if stored is not None and stored.model in self._of_model:
            places, matrix = self._of_model[stored.model]
            likeness[places] = matrix @ stored.vector
        np.maximum(self._nearest, likeness, out=self._nearest)


def _relevance(members: Sequence[Candidate]) -> "NDArray[np.float64]":
    """Scale what the candidates are ranked by to 0..1, the best being 1."""
    import numpy as np

    scores = np.array([each.score if each.rerank_score is None else each.rerank_score for each in members])
    lowest, highest = scores.min(), scores.max()
    if highest <= lowest:
        return np.ones(len(members))
    relevance: NDArray[np.float64] = (scores - lowest) / (highest - lowest)
    return relevance
