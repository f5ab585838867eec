"""Run a search: both legs at once on two connections, fusion, what orders anew, and the page to show."""

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import chain

from sourcebook.database.database import Database
from sourcebook.search.candidate import Candidate
from sourcebook.search.condition import EntryCondition
from sourcebook.search.demands import demanded
from sourcebook.search.diversity import diversify, read_vectors
from sourcebook.search.explanation import Explanation
from sourcebook.search.fusion import FusedEntry, fuse
from sourcebook.search.grouping import DocumentGroup, group_by_document, read_documents
from sourcebook.search.legs import KeywordLeg, Leg, VectorLeg
from sourcebook.search.paging import DEEPEST, cut_off_note, deeper, empty_page_note, page_of, rank
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.reading import Hit, LegPlace, Places, hit_of, read_results
from sourcebook.search.request import LARGEST_OFFSET, SearchRequest
from sourcebook.search.reranking.rerank import read_texts, rerank
from sourcebook.search.reranking.reranker import Reranker
from sourcebook.search.results import SearchResults
from sourcebook.search.scope import Scope, find_scope


@dataclass(frozen=True, slots=True)
class Means:
    """What searches share."""

    database: Database
    executor: Executor
    """Runs the keyword leg beside the vector leg."""
    vectors: QueryVectors
    reranker: Reranker


@dataclass(slots=True)
class _Ranked:
    """A search on its way: everything that was found, in its final order."""

    ranking: list[Candidate] = field(default_factory=list)
    groups: list[DocumentGroup] = field(default_factory=list)
    """The same by document, where that was asked for."""
    looks: dict[int, dict[str, Leg]] = field(default_factory=dict)
    """What the legs brought, by the depth that they were asked for: the last is the deepest."""
    at_the_end: bool = True
    """Whether no deeper look would bring more."""
    depth: int = 0
    rerank_ms: float | None = None
    rerank_note: str | None = None

    @property
    def legs(self) -> dict[str, Leg]:
        """The legs at their deepest."""
        return self.looks[self.depth] if self.looks else {}


def run_search(means: Means, request: SearchRequest) -> SearchResults:
    """Search, and say which leg had nothing to say."""
    started = time.perf_counter()
    with means.database.connection() as connection:
        scope = find_scope(connection, request)
        conditions, notes = demanded(connection, scope, request.query) if request.query.has_operators else ([], [])
    notes += [f"the collection {name} has nothing searchable yet" for name in scope.not_indexed]
    filtered = request.filters.condition() if request.filters is not None else None
    condition = EntryCondition.all_of([*conditions, *([filtered] if filtered is not None else [])])
    ranked = _rank(means, scope, request, condition) if scope.generations else _Ranked()
    notes += list(dict.fromkeys(chain.from_iterable(leg.notes for leg in ranked.legs.values())))
    if ranked.rerank_note:
        notes.append(ranked.rerank_note)
    what = "documents" if request.group_by else "passages"
    units: Sequence[Candidate | DocumentGroup] = ranked.groups if request.group_by else ranked.ranking
    page = page_of(units, request.offset, request.limit)
    if request.offset and not page.items:
        notes.append(empty_page_note(request.offset, len(units), what))
    next_offset = page.next_offset if (page.next_offset or 0) <= LARGEST_OFFSET else None
    if page.items and next_offset is None and (page.next_offset is not None or not ranked.at_the_end):
        notes.append(cut_off_note(what))
    reading = time.perf_counter()
    with means.database.connection() as connection:
        results = read_results(connection, scope.ids, _hits(ranked, page.items), request.neighbours)
    ended = time.perf_counter()
    explanation = _explain(means, scope, request, ranked, (ended - reading) * 1000) if request.explain else None
    return SearchResults(
        results,
        round((ended - started) * 1000, 3),
        {name: leg.dropped for name, leg in ranked.legs.items() if leg.dropped is not None},
        len(units),
        request.offset,
        next_offset,
        tuple(note.removesuffix(".") for note in notes),
        explanation,
    )


def _rank(means: Means, scope: Scope, request: SearchRequest, condition: EntryCondition | None) -> _Ranked:
    """Look as deep as the page needs."""
    wanted = request.offset + request.limit + 1
    candidates = max(wanted, request.rerank.top if request.rerank else 0)
    legs = _legs(means, scope, request, condition)
    looks: dict[int, dict[str, Leg]] = {}

    def fused(depth: int) -> Iterable[FusedEntry]:
        heard = {name: leg for name, leg in looks[depth].items() if leg.dropped is None}
        rankings = {name: leg.ranking for name, leg in heard.items()}
        return fuse(rankings, request.fusion, {name: leg.trust for name, leg in heard.items()})

    ranked = _Ranked()
    for depths in deeper(first=request.fusion.depth):
        depth = depths[-1]
        looks[depth] = _look(means, legs, depth)
        ranked = _Ranked(rank(fused, depths), looks=looks, depth=depth)
        ranked.at_the_end = all(len(leg.ranking) < depth for leg in looks[depth].values())
        last = ranked.at_the_end or depth >= DEEPEST
        if len(ranked.ranking) >= candidates or last:
            _order_anew(means, scope, request, ranked, wanted)
            if not request.group_by or len(ranked.groups) >= wanted or last:
                break
    return ranked


def _legs(
    means: Means, scope: Scope, request: SearchRequest, condition: EntryCondition | None
) -> tuple[VectorLeg | None, KeywordLeg | None]:
    by_meaning = request.mode == "vector" or (request.mode == "hybrid" and request.fusion.vector > 0)
    by_words = request.mode == "keyword" or (request.mode == "hybrid" and request.fusion.keyword > 0)
    return (
        VectorLeg(means.vectors, scope, request.query.text, condition) if by_meaning else None,
        KeywordLeg(scope, request.query.text, condition, typos=request.typos) if by_words else None,
    )


def _look(means: Means, legs: tuple[VectorLeg | None, KeywordLeg | None], depth: int) -> dict[str, Leg]:
    """Ask both legs at once."""
    by_meaning, by_words = legs
    beside = means.executor.submit(by_words.look, means.database, depth) if by_words and by_meaning else None
    found = {}
    if by_meaning:
        found["vector"] = by_meaning.look(means.database, depth)
    if by_words:
        found["keyword"] = beside.result() if beside else by_words.look(means.database, depth)
    return found


def _order_anew(means: Means, scope: Scope, request: SearchRequest, ranked: _Ranked, wanted: int) -> None:
    """Rerank, diversify and group, as far as that was asked for."""
    if request.rerank and ranked.ranking:
        first = [candidate.chunk_id for candidate in ranked.ranking[: request.rerank.top]]
        with means.database.connection() as connection:
            texts = read_texts(connection, scope.ids, first)
        reranked = rerank(means.reranker, request.rerank, request.query.text, ranked.ranking, texts)
        ranked.ranking, ranked.rerank_ms, ranked.rerank_note = reranked.ranking, reranked.ms, reranked.note
    if request.group_by and ranked.ranking:
        with means.database.connection() as connection:
            documents = read_documents(connection, scope.ids, [candidate.chunk_id for candidate in ranked.ranking])
        ranked.groups = group_by_document(ranked.ranking, documents)
    if request.diversity and ranked.ranking:
        shown = [group.best for group in ranked.groups] if request.group_by else ranked.ranking
        models = {generation.id: generation.model for generation in scope.generations}
        with means.database.connection() as connection:
            vectors = read_vectors(connection, models, [candidate.chunk_id for candidate in shown])
        diverse = diversify(shown, vectors, request.diversity, wanted)
        if request.group_by:
            by_best = {group.best.chunk_id: group for group in ranked.groups}
            ranked.groups = [by_best[candidate.chunk_id] for candidate in diverse]
        else:
            ranked.ranking = diverse


def _hits(ranked: _Ranked, items: Sequence[Candidate | DocumentGroup]) -> list[Hit]:
    leads = [(item.best, item.also) if isinstance(item, DocumentGroup) else (item, ()) for item in items]
    places = {
        depth: (_places(ranked.looks[depth].get("vector")), _places(ranked.looks[depth].get("keyword")))
        for depth in {candidate.depth for candidate, _ in leads}
    }
    return [hit_of(candidate, *places[candidate.depth], also) for candidate, also in leads]


def _places(leg: Leg | None) -> Places:
    ranking = leg.ranking if leg is not None else ()
    return {chunk: LegPlace(place, score) for place, (chunk, score) in enumerate(ranking, start=1)}


def _explain(means: Means, scope: Scope, request: SearchRequest, ranked: _Ranked, reading_ms: float) -> Explanation:
    legs = list(ranked.legs.items())
    with means.database.connection() as connection:
        explained = tuple(leg.explain(connection, name) for name, leg in legs)
    vector = ranked.legs.get("vector")
    return Explanation(
        query=str(request.query),
        legs=explained,
        fusion=request.fusion.describe() if len(legs) > 1 else "none: one leg alone",
        weights={
            name: round(request.fusion.weight(name) * (leg.trust if request.fusion.by_language else 1), 3)
            for name, leg in legs
        },
        depth=ranked.depth,
        embedding_ms=vector.embedding_ms if vector is not None else None,
        rerank_ms=ranked.rerank_ms,
        reading_ms=round(reading_ms, 3),
    )
