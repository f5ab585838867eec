"""Join the legs' rankings into one."""

from collections.abc import Mapping, Sequence

K = 60


def reciprocal_rank_fusion(rankings: Mapping[str, Sequence[int]], k: int = K) -> list[tuple[int, float]]:
    """Return (id, score) over all rankings, best first; ties keep the order of the smaller id.

    The score of an item is the sum of 1 / (k + rank) over the rankings that hold it, ranks counted from 1
    (Cormack, Clarke and Büttcher, SIGIR 2009, who use k = 60).
    """
    scores: dict[int, float] = {}
    for ranking in rankings.values():
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
