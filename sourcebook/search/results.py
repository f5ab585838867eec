"""What a search returns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, overload

from sourcebook.model.time_span import time_span
from sourcebook.search.context import Part, merged_text
from sourcebook.search.explanation import Explanation


@dataclass(frozen=True, slots=True)
class OtherPassage:
    """Another passage of a result's document that the search found, where results are grouped by document."""

    ordinal: int
    """Place within the document, counted from 0."""
    score: float
    page: int | None
    anchor: str | None
    start_seconds: float | None
    end_seconds: float | None
    rerank_score: float | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One passage, with what a reader needs to trust it."""

    document_id: int
    collection: str
    uri: str
    title: str
    heading_path: tuple[str, ...]
    """Titles of the headings above the passage, outermost first."""
    anchor: str | None
    """Slug of the nearest heading of level 1 to 3, as GitHub makes it."""
    page: int | None
    """Counted from 1, where the format has pages."""
    start_seconds: float | None
    """When in the recording the passage begins; None for what is no recording."""
    end_seconds: float | None
    ordinal: int
    """Place of the passage within its document, counted from 0."""
    text: str
    score: float
    """The fused score; comparable within one search only."""
    vector_rank: int | None
    """Rank by meaning, counted from 1; None where that leg did not find it."""
    keyword_rank: int | None
    """Rank by words, counted from 1; None where that leg did not find it."""
    version: int
    """Of the document, as it was when the passage was published."""
    vector_score: float | None = None
    """Cosine of query and passage, -1..1; None where that leg did not find it."""
    keyword_score: float | None = None
    """BM25, from 0 up; None where that leg did not find it."""
    rerank_score: float | None = None
    """What the reranking model gives the passage; None where it was not reranked."""
    kind: str = "file"
    """`file`, `page` or `recording`."""
    media_type: str = ""
    language: str | None = None
    """Of the document, as it was when the passage was published."""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Of the document: plain JSON values."""
    start_char: int = 0
    """Where in the document's Markdown the passage begins; a header that it repeats stands further up."""
    end_char: int = 0
    parts: tuple[Part, ...] = ()
    """With neighbours: the passages around the hit, and it, in reading order. Another hit of the search may be among
    them: it has no result of its own."""
    also: tuple[OtherPassage, ...] = ()
    """Grouped by document: its other passages that the search found, best first."""

    @property
    def time_span(self) -> str | None:
        """When the passage is spoken, such as `12:30–14:15`; None for what is no recording."""
        return time_span(self.start_seconds, self.end_seconds)

    @property
    def context_text(self) -> str:
        """The parts as one text, what they repeat of each other once; the passage's own text where there are none."""
        return merged_text(self.parts) if self.parts else self.text

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, the time span among them; the context where it says more than the text."""
        context = self.context_text if self.parts else None
        return {**asdict(self), "time_span": self.time_span, "context_text": context}


@dataclass(frozen=True, slots=True)
class SearchResults(Sequence[SearchResult]):
    """The passages found, best first, and how they were found."""

    results: tuple[SearchResult, ...]
    took_ms: float
    """The whole search, query embedding included, in milliseconds."""
    dropped_legs: dict[str, str]
    """Legs that had nothing to say, and why; the results rest on the other leg alone."""
    total_candidates: int = 0
    """How many passages (grouped: documents) were ranked: at least those of the pages up to this one, not all that
    there are."""
    offset: int = 0
    """How many passages (grouped: documents) stand before this page."""
    next_offset: int | None = None
    """The offset of the next page; None where this is the last one."""
    notes: tuple[str, ...] = ()
    """What a reader should know of how it went: sentences. Empty where everything went as asked."""
    explanation: Explanation | None = None
    """How the search went, where that was asked for."""

    @overload
    def __getitem__(self, index: int) -> SearchResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SearchResult]: ...
    def __getitem__(self, index: int | slice) -> SearchResult | Sequence[SearchResult]:
        """Return one result, or a tuple of them."""
        return self.results[index]

    def __len__(self) -> int:
        """Return how many results the page has."""
        return len(self.results)

    def __iter__(self) -> Iterator[SearchResult]:
        """Iterate best first."""
        return iter(self.results)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `sourcebook search --json` prints them."""
        return {
            "results": [result.as_dict() for result in self.results],
            "took_ms": self.took_ms,
            "dropped_legs": self.dropped_legs,
            "total_candidates": self.total_candidates,
            "offset": self.offset,
            "next_offset": self.next_offset,
            "notes": list(self.notes),
            "explanation": None if self.explanation is None else self.explanation.as_dict(),
        }
