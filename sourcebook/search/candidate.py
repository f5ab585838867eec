"""A passage on its way from the fusion to the page of results."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that the legs brought, and what is known of its place."""

    chunk_id: int
    score: float
    """The fused score."""
    depth: int
    """How many entries each leg was asked for when it was found: the first of `paging.deeper` that brings it."""
    rerank_score: float | None = None
    """What the reranking model gives it; None where it was not reranked."""
