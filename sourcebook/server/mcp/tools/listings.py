"""The tools that list: collections, their sources, their statistics."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, Field

from sourcebook.contract.filling import Filling
from sourcebook.contract.work import OPEN
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.mcp.arguments import CollectionsArguments, ListArguments
from sourcebook.server.mcp.budget import MOST_TOKENS, SENTENCE_TOKENS, clipped, fitting
from sourcebook.server.visibility import seen_collections, shown_sources

_MOST_JOBS = 1_000
"""Jobs of a collection that are counted, at most."""
_LONGEST_ERROR = 300
"""Characters of the reason why a source cannot be read."""


class Collection(BaseModel):
    """Contents of a collection."""

    name: str
    description: str | None = Field(default=None, description="What is in it: choose collections by it.")
    documents: int
    passages: int
    embedding_model: str | None = None
    filling: Filling | None = Field(default=None, description="Share that is searchable while it is being filled.")


class Source(BaseModel):
    """A source of a collection, after its last listing or crawl."""

    collection: str
    kind: str = Field(description="`files`, `site`, `uploads`, or `collection` whose documents are taken.")
    location: str
    read_at: datetime | None = Field(default=None, description="Time of the last complete listing or crawl.")
    error: str | None = Field(default=None, description="Why it cannot be read.")
    pages: int | None = Field(default=None, description="Pages of a site.")
    queued: int | None = Field(default=None, description="URLs of a site still to be requested.")
    taken: int | None = Field(default=None, description="Documents taken from another collection.")
    commit: str | None = Field(default=None, description="Commit of a Git repository.")


class Statistics(BaseModel):
    """Counts of a collection."""

    name: str
    documents: int
    passages: int
    states: dict[str, int]
    failures: dict[str, int]
    kinds: dict[str, int]
    media_types: dict[str, int]
    languages: dict[str, int]
    types: dict[str, int]
    jobs: dict[str, int] = Field(description="Jobs that have not ended, by state: `waiting` or `running`.")


class ListPage(BaseModel):
    """A page of a list."""

    next_offset: int | None = Field(default=None, description="`offset` of the next page; none on the last one.")
    how_to_go_on: str | None = Field(default=None, description="What is left out, and how to ask for it.")


class CollectionsAnswer(ListPage):
    """Collections, in alphabetical order."""

    collections: list[Collection]


class SourcesAnswer(ListPage):
    """Sources of collections."""

    sources: list[Source]


class StatisticsAnswer(ListPage):
    """Counts of collections, in alphabetical order."""

    collections: list[Statistics]


def list_collections(knowledge: KnowledgeBase, grant: Grant, asked: ListArguments) -> CollectionsAnswer:
    """Return what each collection holds."""
    entries = [
        Collection(
            name=each.name,
            description=each.description,
            documents=each.documents,
            passages=each.chunks,
            embedding_model=each.embedding_model,
            filling=each.filling,
        )
        for each in knowledge.collections()
        if grant.sees(each.name)
    ]
    shown, rest = page_of(entries[asked.offset :], asked)
    return CollectionsAnswer(collections=shown, **rest)


def list_sources(knowledge: KnowledgeBase, grant: Grant, asked: CollectionsArguments) -> SourcesAnswer:
    """Return the folders, sites and other sources of collections."""
    entries = [
        Source(
            collection=each.name,
            kind=source.kind,
            location=source.location,
            read_at=source.listed_at,
            error=None if source.listing_error is None else clipped(source.listing_error, _LONGEST_ERROR),
            pages=source.pages,
            queued=source.queued or None,
            taken=source.taken,
            commit=source.commit,
        )
        for each in knowledge.sources(seen_collections(knowledge, grant, asked.names))
        for source in shown_sources(grant, each.sources)
    ]
    shown, rest = page_of(entries[asked.offset :], asked)
    return SourcesAnswer(sources=shown, **rest)


def get_statistics(knowledge: KnowledgeBase, grant: Grant, asked: CollectionsArguments) -> StatisticsAnswer:
    """Return counts of collections: documents by state, kind, media type and language, failures by class, and jobs."""
    entries = []
    for each in knowledge.statistics(seen_collections(knowledge, grant, asked.names)):
        values = each.as_dict()
        jobs = Counter(str(job.state) for job in knowledge.work_requests([each.name], states=OPEN, limit=_MOST_JOBS))
        entries.append(Statistics(passages=values.pop("chunks"), jobs=dict(jobs), **values))
    shown, rest = page_of(entries[asked.offset :], asked)
    return StatisticsAnswer(collections=shown, **rest)


Entry = TypeVar("Entry", bound=BaseModel)


def page_of(
    entries: Sequence[Entry], asked: ListArguments, most: int | None = None
) -> tuple[list[Entry], dict[str, Any]]:
    """Return the entries of a page, and how to go on.

    Args:
        entries: those from the offset on; one more than `most` where there are more than that.
        asked: the offset, and the tokens that an answer may have.
        most: entries of a page; as many as fit where None.
    """
    left = entries[:most]
    shown = fitting(left, asked.max_tokens - 2 * SENTENCE_TOKENS)
    if shown == len(entries):
        return list(left), {}
    if shown == 0:
        return [], {
            "how_to_go_on": f"The next entry is longer than max_tokens allows: ask for more, up to {MOST_TOKENS}."
        }
    following = asked.offset + shown
    more = (
        "" if asked.max_tokens == MOST_TOKENS or shown == most else f"; more max_tokens, up to {MOST_TOKENS}, show more"
    )
    number = "More" if most is not None else f"{len(entries) - shown} more"
    said = f"{number} entries: ask again with offset={following}{more}."
    return list(left[:shown]), {"next_offset": following, "how_to_go_on": said}
