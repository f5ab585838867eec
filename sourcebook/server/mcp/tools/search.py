"""The tool `search_documents`: passages for a query, with their citations."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any, Final

from pydantic import BaseModel, Field

from sourcebook.context.fence import harmless
from sourcebook.contract.other_documents import LinkedDocument, OtherCopy, OtherVersion
from sourcebook.contract.search_results import Facets, SearchResult, SearchResults
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.mcp.arguments import SearchArguments
from sourcebook.server.mcp.budget import MOST_TOKENS, SENTENCE_TOKENS, beginning, clipped, fitting, tokens_of
from sourcebook.server.mcp.citations import Citation, cite
from sourcebook.server.searching import search_as_asked

_SHORTEST_TEXT: Final = 100
"""Tokens of a passage's beginning for which it is still shown."""
_LONGEST_TITLE: Final = 200
"""Characters of the title of a document that is named beside a result."""
_MOST_SUPERSEDING: Final = 5
_MOST_METADATA: Final = 300
"""Tokens of a document's metadata that a result shows; longer ones are left to `fetch_document`."""


class Superseding(BaseModel):
    """A document that a relation leads to."""

    document: int = Field(description="Its id, for fetch_document.")
    title: str


class Hit(BaseModel):
    """A passage that answers, with its source."""

    document: int = Field(description="Id of its document, for fetch_document.")
    collection: str
    passage: int = Field(description="Place in its document, counted from 0, for fetch_document.")
    citation: Citation
    text: str = Field(description="The passage; with neighbours, the passages around it as well.")
    snippet: str | None = Field(
        default=None, description="The part that answers best; none where that is the whole text."
    )
    text_goes_on: bool | None = Field(default=None, description="Whether the text is cut.")
    start: int = Field(description="Start of the text in its document, in characters.")
    end: int
    relevance: float = Field(description="How likely it answers, 0 to 1.")
    score: float
    kind: str
    media_type: str
    language: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    also: list[dict[str, Any]] | None = Field(
        default=None, description="Other passages of the document that were found, with group_by."
    )
    superseded_by: list[Superseding] | None = Field(
        default=None, description="What supersedes its document: prefer that where it answers."
    )
    also_in: list[Superseding] | None = Field(default=None, description="Documents with the same passage.")
    versions: list[Superseding] | None = Field(
        default=None, description="Other versions of its document, the newest first; diff_documents compares two."
    )
    scores: dict[str, float] | None = Field(default=None, description="Ranks and scores of the legs, with explain.")


class SearchAnswer(BaseModel):
    """Passages that answer a query, best first."""

    results: list[Hit]
    next_offset: int | None = Field(default=None, description="`offset` of the next results; none where these are all.")
    how_to_go_on: str | None = Field(default=None, description="What is left out, and how to ask for it.")
    nothing_relevant: bool | None = Field(
        default=None, description="Whether passages were found, but none that is relevant."
    )
    withheld: int | None = Field(default=None, description="Results left out because of their relevance.")
    suggestion: str | None = Field(default=None, description="The query with known words for unknown ones.")
    notes: list[str] | None = None
    seconds_behind: float | None = Field(default=None, description="How far the index searched may be behind.")
    dropped_legs: dict[str, str] | None = None
    generations: list[int] | None = Field(default=None, description="Generations searched, with explain.")
    facets: dict[str, dict[str, int]] | None = None
    linked: list[Superseding] | None = Field(default=None, description="Documents that these refer to, with expand.")
    explanation: dict[str, Any] | None = None


def search_documents(
    knowledge: KnowledgeBase, grant: Grant, asked: SearchArguments, rerankers: Collection[str] = ()
) -> SearchAnswer:
    """Return the passages that answer a query, as many as the answer holds; its dashes are text unless it asks."""
    if asked.literal is None:
        asked = asked.model_copy(update={"literal": True})
    return fitted(search_as_asked(knowledge, grant, asked, rerankers), asked)


def fitted(found: SearchResults, asked: SearchArguments) -> SearchAnswer:
    """Return an answer of at most `max_tokens` tokens.

    The first results are shown whole, the next one cut where a part of it fits, and the others are left to a further
    call. Facets and explanation have a third of the answer, at most.
    """
    answer, left_out = _frame(found, asked)
    room = asked.max_tokens - tokens_of(answer) - SENTENCE_TOKENS
    for result in found:
        hit, omitted = _hit(result, asked)
        tokens = tokens_of(hit) + 1
        if tokens > room:
            cut = _cut(hit, room)
            if cut is None:
                break
            hit, tokens = cut, tokens_of(cut) + 1
        answer.results.append(hit)
        room -= tokens
        if omitted:
            left_out.append(f"metadata of document {hit.document}: fetch_document shows it")
        if hit.text_goes_on:
            left_out.append(f"the end of the last text: fetch_document has it, from start={hit.start} on")
            break
    shown = len(answer.results)
    if shown == 0 and len(found):
        answer.next_offset = None
        left_out.append(f"all {len(found)} results: each is longer than max_tokens allows")
    elif shown < len(found):
        answer.next_offset = asked.offset + shown
        left_out.append(f"{len(found) - shown} of {len(found)} results: ask again with offset={answer.next_offset}")
    if left_out:
        more = "" if asked.max_tokens == MOST_TOKENS else f" A larger max_tokens, up to {MOST_TOKENS}, shows more."
        answer.how_to_go_on = f"Left out: {'; '.join(left_out[-3:])}.{more}"
    return answer


def _frame(found: SearchResults, asked: SearchArguments) -> tuple[SearchAnswer, list[str]]:
    """Return the answer without its results, and what had to be left out of it."""
    answer = SearchAnswer(
        results=[],
        next_offset=found.next_offset,
        nothing_relevant=found.nothing_relevant or None,
        withheld=found.withheld or None,
        suggestion=found.suggestion,
        notes=list(found.notes) or None,
        seconds_behind=found.seconds_behind,
        dropped_legs=found.dropped_legs or None,
    )
    left_out: list[str] = []
    room = asked.max_tokens // 3
    if found.linked:
        answer.linked = _named(found.linked)[: fitting(_named(found.linked), room)]
        room -= tokens_of([each.model_dump() for each in answer.linked])
    if found.facets is not None:
        answer.facets = _fewer_values(found.facets, room)
        if any(len(answer.facets[name]) < len(values) for name, values in found.facets.items()):
            left_out.append("rarer values of facets")
        room -= tokens_of(answer.facets)
    if found.explanation is not None:
        answer.generations = list(found.generations)
        explanation = found.explanation.as_dict()
        if tokens_of(explanation) > room:
            for leg in explanation["legs"]:
                leg.pop("plan", None)
            left_out.append("plans of the explanation")
        if tokens_of(explanation) > room:
            left_out[-1] = "the explanation"
        else:
            answer.explanation = explanation
    return answer, left_out


def _fewer_values(facets: Facets, room: int) -> dict[str, dict[str, int]]:
    """Return facets with as many of their most frequent values as fit."""
    most = max((len(values) for values in facets.values()), default=0)
    while True:
        kept = {name: dict(list(values.items())[:most]) for name, values in facets.items()}
        if most == 0 or tokens_of(kept) <= room:
            return kept
        most //= 2


def _hit(result: SearchResult, asked: SearchArguments) -> tuple[Hit, bool]:
    """Return a result as the answer shows it, and whether its metadata had to be left out."""
    text = harmless(result.context_text).text
    metadata = dict(result.metadata)
    is_long = tokens_of(metadata) > _MOST_METADATA
    scores = {name: getattr(result, name) for name in _SCORES} if asked.explain else {}
    if result.rerank_score is not None:
        scores["rerank_score"] = result.rerank_score
    hit = Hit(
        document=result.document_id,
        collection=result.collection,
        passage=result.ordinal,
        citation=cite(
            result,
            title=result.title,
            uri=result.uri,
            version=result.version,
            link=result.link,
            metadata=result.metadata,
        ),
        text=text,
        snippet=None if result.snippet.strip() in {"", result.context_text.strip()} else harmless(result.snippet).text,
        start=result.parts[0].start_char if result.parts else result.start_char,
        end=result.parts[-1].end_char if result.parts else result.end_char,
        relevance=round(result.relevance, 3),
        score=round(result.score, 4),
        kind=result.kind,
        media_type=result.media_type,
        language=result.language,
        tags=list(result.tags) or None,
        metadata=None if is_long or not metadata else metadata,
        also=[{name: value for name, value in asdict(each).items() if value is not None} for each in result.also]
        or None,
        superseded_by=_named(result.superseded_by[:_MOST_SUPERSEDING]) or None,
        also_in=_named(result.also_in[:_MOST_SUPERSEDING]) or None,
        versions=_named(result.versions[:_MOST_SUPERSEDING]) or None,
        scores={name: value for name, value in scores.items() if value is not None} or None,
    )
    return hit, is_long


def _named(documents: Sequence[LinkedDocument | OtherCopy | OtherVersion]) -> list[Superseding]:
    return [
        Superseding(document=each.document_id, title=clipped(each.title or each.uri, _LONGEST_TITLE))
        for each in documents
    ]


_SCORES: Final = ("vector_rank", "keyword_rank", "vector_score", "keyword_score")


def _cut(hit: Hit, room: int) -> Hit | None:
    """Return a result with the beginning of its text; None where too little of it fits."""
    bare = hit.model_copy(update={"text": "", "also": None, "metadata": None, "text_goes_on": True})
    left = room - tokens_of(bare) - 1
    if left < min(_SHORTEST_TEXT, tokens_of(hit.text)):
        return None
    return bare.model_copy(update={"text": beginning(hit.text, left)})
