"""What a search returns."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, overload

from sourcebook.speech.clock import time_span


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

    @property
    def time_span(self) -> str | None:
        """When the passage is spoken, such as `12:30–14:15`; None for what is no recording."""
        return time_span(self.start_seconds, self.end_seconds)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, the time span among them."""
        return {**asdict(self), "time_span": self.time_span}


@dataclass(frozen=True, slots=True)
class SearchResults(Sequence[SearchResult]):
    """The passages found, best first, and how they were found."""

    results: tuple[SearchResult, ...]
    took_ms: float
    """The whole search, query embedding included, in milliseconds."""
    dropped_legs: dict[str, str]
    """Legs that had nothing to say, and why; the results rest on the other leg alone."""

    @overload
    def __getitem__(self, index: int) -> SearchResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SearchResult]: ...
    def __getitem__(self, index: int | slice) -> SearchResult | Sequence[SearchResult]:
        """Return one result, or a tuple of them."""
        return self.results[index]

    def __len__(self) -> int:
        """Return how many passages were found."""
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
        }
