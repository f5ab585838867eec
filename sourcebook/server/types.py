"""The types of requests and answers, one for every face: the fields are those of the library.

A dataclass of the library is the type of an answer where it is one already.
"""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictBool, StrictInt

from sourcebook.admin.items import Item, Passage
from sourcebook.search.facets import Facets
from sourcebook.search.fusion import DEEPEST, FIRST_DEPTH
from sourcebook.search.results import SearchResult

_EXAMPLE: dict[str, JsonValue] = {"query": "How long do the batteries last?", "limit": 3}


class _Sent(BaseModel):
    """A request: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FusionSettings(_Sent):
    """How the rankings of vector and keyword search are joined."""

    method: Literal["weighted", "rrf"] = "weighted"
    vector: float = Field(default=1.0, description="Weight of the vector leg; 0 leaves it out.")
    keyword: float = Field(default=1.0, description="Weight of the keyword leg; 0 leaves it out.")
    k: StrictInt = Field(default=60, description="Constant of reciprocal rank fusion.")
    depth: StrictInt = Field(
        default=FIRST_DEPTH, description=f"Entries of each leg that are fused at first, of {DEEPEST:,}."
    )
    by_language: StrictBool = True


class RerankingSettings(_Sent):
    """Reranking of the first candidates by a cross encoder that is installed on the server."""

    model: str
    top: StrictInt = 50
    batch_size: StrictInt = 16
    timeout: float | None = 2.0
    max_length: StrictInt | None = None


class SearchQuery(_Sent):
    """A search; every option of `KnowledgeBase.search`."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [_EXAMPLE]})

    query: str = Field(description="Words or a question, at most 10,000 characters.")
    collections: list[str] | str | None = Field(
        default=None, description="Names, or one name; every collection by default."
    )
    limit: StrictInt = Field(default=5, description="Passages, 1 to 1,000.")
    mode: Literal["hybrid", "vector", "keyword"] = "hybrid"
    offset: StrictInt = Field(default=0, description="Passages before this page, 0 to 10,000.")
    filters: dict[str, Any] | None = Field(
        default=None, description="Conditions on the documents.", examples=[{"tags": ["policy"], "language": "en"}]
    )
    fusion: FusionSettings | Literal["weighted", "rrf"] | None = None
    strategy: Literal["fixed", "auto"] = "fixed"
    neighbours: StrictInt = Field(
        default=0, description="Passages before and after each result that come with it, 0 to 20."
    )
    group_by: Literal["document"] | None = None
    diversity: float = Field(default=0.0, description="Weight of the difference between results, 0 to 1.")
    rerank: RerankingSettings | str | None = None
    literal: StrictBool | None = None
    typos: StrictBool = False
    explain: StrictBool = False
    generation: StrictInt | list[StrictInt] | None = None
    facets: StrictBool = False
    min_relevance: float | None = Field(default=None, description="Relevance of a result, 0 to 1, at least.")
    snippets: Literal["words", "meaning"] = "words"
    log: StrictBool = True


class SimilarQuery(_Sent):
    """A search for documents similar to one; every option of `KnowledgeBase.similar`."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"document": "handbook/power.md"}]}
    )

    document: str | StrictInt = Field(description="Its id, its URI or the end of its path.")
    passage: StrictInt | None = Field(default=None, description="Place of a passage within it, counted from 0.")
    collection: str | None = Field(default=None, description="Its collection, where several have it.")
    collections: list[str] | str | None = None
    limit: StrictInt = 5
    filters: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class FoundPassage(SearchResult):
    """One passage, with its place, its source and its scores, as JSON holds it."""

    snippet_highlights: tuple[tuple[int, int], ...] = ()
    """(start, end) of each highlight in the snippet, in characters."""
    time_span: str | None = None
    """Time span of the passage in its recording, such as `12:30–14:15`."""
    context_text: str | None = None  # type: ignore[assignment] # a property there, which is never null
    """With neighbours, the parts as one text without repetitions."""


class SearchAnswer(BaseModel):
    """A page of results, best first, and how they were found; see `SearchResults`."""

    results: list[FoundPassage]
    took_ms: float
    dropped_legs: dict[str, str]
    total_candidates: int
    offset: int
    next_offset: int | None
    notes: list[str]
    generations: list[int]
    suggestion: str | None
    facets: Facets | None
    nothing_relevant: bool
    withheld: int
    explanation: dict[str, Any] | None


class DocumentPage(BaseModel):
    """A page of documents."""

    documents: list[Item]
    next_cursor: str | None = Field(description="The `cursor` of the next page; null on the last one.")


class DocumentAnswer(BaseModel):
    """A document with its text."""

    document: Item
    text: str = Field(description="The document as Markdown; empty where it was never parsed.")
    metadata: dict[str, Any]
    tags: list[str]


class ChunkList(BaseModel):
    """The searchable passages of a document, in reading order."""

    chunks: list[Passage]
