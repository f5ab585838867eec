"""Curation by hand: passages of boosted documents nearer the first place, those of others further behind."""

from collections.abc import Mapping, Sequence
from typing import Final

from sourcebook.search.ranking.fusion import Candidate

REORDERED: Final = 100
"""Candidates among which boosted ones move: as no page changes it, pages are slices of one list."""


def by_boost(
    candidates: Sequence[Candidate], documents: Mapping[int, int], boosts: Mapping[int, float]
) -> tuple[list[Candidate], int]:
    """Return candidates with each at its place divided by its document's boost, and how many documents have moved.

    A boost of 2 takes the passage at the sixth place to the third; .5 takes that at the third behind the sixth. Where
    two come to one place, the greater boost stands first.

    Args:
        candidates: best first.
        documents: document ids by chunk id.
        boosts: factors by document id; 1 for others.
    """
    first = candidates[:REORDERED]
    factors = [boosts.get(documents.get(each.chunk_id, 0), 1.0) for each in first]
    order = sorted(range(len(first)), key=lambda at: ((at + 1) / factors[at], -factors[at], at))
    moved = {documents[first[at].chunk_id] for place, at in enumerate(order) if factors[at] != 1 and place != at}
    return [first[at] for at in order] + list(candidates[REORDERED:]), len(moved)
