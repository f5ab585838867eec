"""The types of requests and answers, one for every face: the fields are those of the library.

A dataclass of the library is the type of an answer where it is one already.
"""

from dataclasses import dataclass
from typing import Any, Final, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from sourcebook.contract.differences import DiffRequest
from sourcebook.contract.documents import Item, Passage
from sourcebook.contract.search import ContextRequest, SearchRequest
from sourcebook.contract.search_results import SearchResult, SearchResults
from sourcebook.contract.similar import SimilarRequest
from sourcebook.server.request_models import Carried, carrying


@carrying(SearchRequest)
class SearchQuery(Carried):
    """A search; every option of `KnowledgeBase.search`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "How long do the batteries last?", "limit": 3}]}
    )


@carrying(SimilarRequest)
class SimilarQuery(Carried):
    """A search for documents similar to one; every option of `KnowledgeBase.similar`."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"document": "handbook/power.md"}]})


@carrying(DiffRequest)
class DiffQuery(Carried):
    """Two documents to compare."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"first": "handbook/lease_v1.md", "second": "handbook/lease_v2.md"}]}
    )


@carrying(ContextRequest)
class ContextQuery(Carried):
    """A context for a language model; every option of `KnowledgeBase.context`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "How long do the batteries last?", "max_tokens": 2_000}]}
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


_AS_JSON: Final[dict[str, Any]] = {"results": list[FoundPassage], "explanation": dict[str, Any] | None}
"""Types of the fields of results that JSON holds as others."""
_FIELDS: Final[dict[str, Any]] = {
    name: (_AS_JSON.get(name, kind), ...) for name, kind in get_type_hints(SearchResults).items()
}
SearchAnswer = create_model(
    "SearchAnswer", __doc__="A page of results, best first, and how they were found; see `SearchResults`.", **_FIELDS
)


class DocumentPage(BaseModel):
    """A page of documents."""

    documents: list[Item]
    next_cursor: str | None = Field(description="The `cursor` of the next page; null on the last one.")
    total: int | None = Field(description="Items of the whole list; on the first page alone, null on those after it.")


class DocumentAnswer(BaseModel):
    """A document with its text."""

    document: Item
    text: str = Field(description="The document as Markdown; empty where it was never parsed.")
    metadata: dict[str, Any]
    tags: list[str]
    given_tags: list[str] = Field(description="Tags that were given by hand; `tags` has them, too.")
    given_metadata: dict[str, Any] = Field(description="Metadata that were given by hand; `metadata` has them, too.")
    given_title: str | None = Field(description="Title that was given by hand; `title` is it then.")


class ChunkList(BaseModel):
    """The searchable passages of a document, in reading order."""

    chunks: list[Passage]
