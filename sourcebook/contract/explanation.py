"""Explanation of a search: input, output and time of each part."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class LegExplanation:
    """Input, output and time of one leg."""

    leg: str
    """`vector` or `keyword`."""
    ms: float
    """Milliseconds in the database."""
    candidates: int
    """Number of entries that the leg found."""
    exact: bool
    """Whether no better entry can be missing; false for a scan of the HNSW index."""
    query: str | None = None
    """Terms with their weights, or the models of the query's vectors."""
    plan: str | None = None
    """PostgreSQL's plan, as EXPLAIN prints it."""


@dataclass(frozen=True, slots=True)
class ExpandedWords:
    """Words of a query that were searched by others, too."""

    words: str
    """The words, as the query has them or as the document spells them out."""
    by: str
    """The words that were searched, too."""
    share: float
    """Share 0..1 of the documents that explain the words so; 1 for the settings of a collection."""
    collection: str
    """Collection of the document or the settings; empty for a usual abbreviation such as `R&D`."""
    document_id: int | None = None
    """One of the documents that explain it; None where the settings of the collection do, or nothing."""
    title: str | None = None
    """Title of the document."""
    uri: str | None = None
    """URI of the document."""

    def __str__(self) -> str:
        """Return both, with the document or the collection that says so."""
        said = f"synonyms of {self.collection}" if self.collection else "a usual abbreviation"
        said = said if self.uri is None else f"explained in {self.title or self.uri}"
        share = "" if self.share == 1 else f", {self.share:.0%}"
        return f"{self.words} by {self.by} ({said}{share})"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Words, weights, times and plans of a search, made with `explain=True`."""

    query: str
    """The query as it was understood."""
    legs: tuple[LegExplanation, ...]
    fusion: str
    """The method of the fusion."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weight of each leg in the fusion."""
    depth: int = 0
    """Entries that each leg was asked for."""
    embedding_ms: float | None = None
    """Milliseconds that the query's embedding took; None without one."""
    rerank_ms: float | None = None
    """Milliseconds that reranking took; None without it."""
    reading_ms: float | None = None
    """Milliseconds that reading the page's passages took, neighbours included."""
    relevance: tuple[str, ...] = ()
    """The relevance of each passage of the page, also of those that are withheld, and what each quantity adds."""
    strategy: str | None = None
    """Kind of the query, the reason, and what follows from it; None with the fixed strategy."""
    expansions: tuple[ExpandedWords, ...] = ()
    """Words that were searched by others, too: abbreviations that documents explain, and synonyms of the settings."""
    defaults: Mapping[str, float] = field(default_factory=dict)
    """Options by name that the request left to the settings of the collections, as `search:` there says."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        held = {"weights": dict(self.weights), "defaults": dict(self.defaults)}
        return {**asdict(self), "legs": [asdict(leg) for leg in self.legs], **held}

    def __str__(self) -> str:
        """Return it as text: a line for each part, plans indented below their legs."""
        weights = ", ".join(f"{leg} {weight:g}" for leg, weight in self.weights.items())
        defaults = ", ".join(f"{name} {value:g}" for name, value in self.defaults.items())
        lines = [
            f"query      {self.query}",
            *([f"strategy   {self.strategy}"] if self.strategy else []),
            *(f"expanded   {each}" for each in self.expansions),
            *([f"defaults   {defaults} (settings of the collections)"] if defaults else []),
            f"fusion     {self.fusion}{f' ({weights})' if weights else ''}, depth {self.depth:,}",
        ]
        for leg in self.legs:
            exact = "exact" if leg.exact else "approximate"
            lines.append(f"{leg.leg:<10} {leg.candidates:,} candidates in {leg.ms:.1f} ms, {exact}")
            lines += [f"    {line}" for text in (leg.query, leg.plan) if text for line in text.splitlines()]
        lines += [f"{'relevance':<10} {number}. {text}" for number, text in enumerate(self.relevance, start=1)]
        times = {"embedding": self.embedding_ms, "reranking": self.rerank_ms, "reading": self.reading_ms}
        lines += [f"{part:<10} {ms:.1f} ms" for part, ms in times.items() if ms is not None]
        return "\n".join(lines)
