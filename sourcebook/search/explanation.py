"""Why a search returned what it did: what each part was asked, found, and took."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class LegExplanation:
    """What one leg did."""

    leg: str
    """`vector` or `keyword`."""
    ms: float
    """In the database, in milliseconds."""
    candidates: int
    """How many entries it brought."""
    exact: bool
    """Whether nothing that belongs to them can be missing: false for a scan of the HNSW index."""
    query: str | None = None
    """What it looked for: the text-search query, or the model of the query's vector."""
    plan: str | None = None
    """PostgreSQL's plan, as EXPLAIN prints it."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a search went; made where `explain=True` asks for it."""

    query: str
    """As it was understood."""
    legs: tuple[LegExplanation, ...]
    fusion: str
    """How the legs were joined."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Of each leg in the fusion."""
    depth: int = 0
    """How many entries each leg was asked for."""
    embedding_ms: float | None = None
    """Turning the query into a vector; None where that was not needed."""
    rerank_ms: float | None = None
    """None where nothing was reranked."""
    reading_ms: float | None = None
    """Reading the passages of the page, neighbours included."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "legs": [asdict(leg) for leg in self.legs], "weights": dict(self.weights)}

    def __str__(self) -> str:
        """Return it for people: a line for each part, plans indented below their legs."""
        weights = ", ".join(f"{leg} {weight:g}" for leg, weight in self.weights.items())
        lines = [
            f"query      {self.query}",
            f"fusion     {self.fusion}{f' ({weights})' if weights else ''}, depth {self.depth:,}",
        ]
        for leg in self.legs:
            exact = "exact" if leg.exact else "approximate"
            lines.append(f"{leg.leg:<10} {leg.candidates:,} candidates in {leg.ms:.1f} ms, {exact}")
            lines += [f"    {line}" for text in (leg.query, leg.plan) if text for line in text.splitlines()]
        times = {"embedding": self.embedding_ms, "reranking": self.rerank_ms, "reading": self.reading_ms}
        lines += [f"{part:<10} {ms:.1f} ms" for part, ms in times.items() if ms is not None]
        return "\n".join(lines)
