"""The types of requests and answers, one for every face: the fields are those of the library.

A dataclass of the library is the type of an answer where it is one already.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, StrictBool

from sourcebook.config.relation_kinds import RelationKind
from sourcebook.contract.documents import Item, Passage
from sourcebook.contract.fusion import FIRST_DEPTH
from sourcebook.contract.reranking import MOST_RERANKED
from sourcebook.contract.search_results import Facets, LinkedDocument, SearchResult
from sourcebook.contract.windows import MOST_NEIGHBOURS
from sourcebook.search.request import LARGEST_OFFSET, MOST_CHARACTERS, MOST_RESULTS

_EXAMPLE: dict[str, JsonValue] = {"query": "How long do the batteries last?", "limit": 3}


def as_whole(value: Any) -> Any:
    """Return 5.0, which JSON does not tell from 5, as a whole number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(as_whole), Field(strict=True)]
Number = Annotated[float, Field(strict=True)]
Share = Annotated[Number, Field(ge=0, le=1)]


class Sent(BaseModel):
    """A request: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FusionSettings(Sent):
    """How the rankings of vector and keyword search are joined."""

    method: Literal["weighted", "rrf"] = "weighted"
    vector: Number = Field(default=1.0, ge=0, description="Weight of the vector leg; 0 leaves it out.")
    keyword: Number = Field(default=1.0, ge=0, description="Weight of the keyword leg; 0 leaves it out.")
    k: Whole = Field(default=60, ge=1, le=10_000, description="Constant of reciprocal rank fusion.")
    depth: Whole = Field(default=FIRST_DEPTH, ge=10, le=1_000, description="Entries of each leg fused at first.")
    by_language: StrictBool = True


class RerankingSettings(Sent):
    """Reranking of the first candidates by a cross encoder that is installed on the server."""

    model: str
    top: Whole = Field(default=50, ge=1, le=MOST_RERANKED, description="Candidates that are reranked.")
    batch_size: Whole = Field(default=16, ge=1, le=MOST_RERANKED)
    timeout: Annotated[Number, Field(gt=0, le=60)] | None = Field(
        default=2.0, description="Seconds; null for no limit."
    )
    max_length: Annotated[int, Field(strict=True, ge=8), BeforeValidator(as_whole)] | None = None


class SearchQuery(Sent):
    """A search; every option of `KnowledgeBase.search`."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [_EXAMPLE]})

    query: str = Field(min_length=1, max_length=MOST_CHARACTERS, pattern=r"\S", description="Words or a question.")
    collections: list[str] | str | None = Field(
        default=None, description="Names, or one name; every collection by default."
    )
    limit: Whole = Field(default=5, ge=1, le=MOST_RESULTS, description="Passages.")
    mode: Literal["hybrid", "vector", "keyword"] = "hybrid"
    offset: Whole = Field(default=0, ge=0, le=LARGEST_OFFSET, description="Passages before this page.")
    filters: dict[str, Any] | None = Field(
        default=None, description="Conditions on the documents.", examples=[{"tags": ["policy"], "language": "en"}]
    )
    fusion: FusionSettings | Literal["weighted", "rrf"] | None = None
    strategy: Literal["fixed", "auto"] = "fixed"
    neighbours: Whole = Field(
        default=0, ge=0, le=MOST_NEIGHBOURS, description="Passages before and after each result that come with it."
    )
    group_by: Literal["document"] | None = None
    diversity: Number = Field(default=0.0, ge=0, le=1, description="Weight of the difference between results.")
    rerank: RerankingSettings | str | None = None
    literal: StrictBool | None = None
    typos: StrictBool = False
    explain: StrictBool = False
    generation: Whole | list[Whole] | None = None
    facets: StrictBool = False
    min_relevance: Share | None = Field(default=None, description="Relevance of a result, at least.")
    snippets: Literal["words", "meaning"] = "words"
    log: StrictBool = True
    unredacted: StrictBool = Field(
        default=False, description="What collections redact as it is stored; needs the scope `unredacted`."
    )
    superseded: Literal["shown", "behind"] = "shown"
    expand: tuple[RelationKind, ...] | RelationKind = Field(
        default=(), description="Kinds of relations: `linked` has the documents that they lead to."
    )


class SimilarQuery(Sent):
    """A search for documents similar to one; every option of `KnowledgeBase.similar`."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"document": "handbook/power.md"}]}
    )

    document: str | Whole = Field(description="Its id, its URI or the end of its path.")
    passage: Whole | None = Field(default=None, description="Place of a passage within it, counted from 0.")
    collection: str | None = Field(default=None, description="Its collection, where several have it.")
    collections: list[str] | str | None = None
    limit: Whole = Field(default=5, ge=1, le=MOST_RESULTS)
    filters: dict[str, Any] | None = None
    unredacted: StrictBool = Field(
        default=False, description="What collections redact as it is stored; needs the scope `unredacted`."
    )


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
    linked: list[LinkedDocument]
    seconds_behind: float | None = Field(
        default=None, description="Seconds that the replica searched is behind, at most; null without a replica."
    )
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
    given_tags: list[str] = Field(description="Tags that were given by hand; `tags` has them, too.")
    given_metadata: dict[str, Any] = Field(description="Metadata that were given by hand; `metadata` has them, too.")


class ChunkList(BaseModel):
    """The searchable passages of a document, in reading order."""

    chunks: list[Passage]
