"""A search from the checked request to its page of results."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from itertools import chain

from psycopg import Connection

from sourcebook.contract.explanation import Explanation
from sourcebook.contract.search_results import Facets, SearchResult, SearchResults
from sourcebook.database.pool import ConnectionPool, HeldConnection
from sourcebook.database.query_log import QueryLog
from sourcebook.database.usage_log import UsageLog
from sourcebook.errors import DatabaseConnectionLostError, DatabaseDeadlockError
from sourcebook.search.best_part import with_snippet
from sourcebook.search.facets import count_facets
from sourcebook.search.filtering.conditions import condition_of
from sourcebook.search.find_candidates import CandidateSearch, asks_vectors
from sourcebook.search.fusion import DEEPEST, Candidate, LegResult, RankedList
from sourcebook.search.highlights import find_highlights
from sourcebook.search.nearest_sentence import nearest_sentences
from sourcebook.search.ordering import Ordered, read_documents, rerank_group_diversify
from sourcebook.search.query_terms import QueryTerm, query_terms, with_stand_ins
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.read_results import read_results
from sourcebook.search.redaction import redacted
from sourcebook.search.relevant_page import RelevantPage, relevant_page
from sourcebook.search.request import LARGEST_OFFSET, SearchRequest
from sourcebook.search.required_terms import required_terms
from sourcebook.search.reranking.reranker import Reranker
from sourcebook.search.search_observation import SearchObservation
from sourcebook.search.search_scope import EntryCondition, SearchScope, find_scope
from sourcebook.search.settled_list import SettledList, settle_places
from sourcebook.search.strategy import FIXED, Strategy, strategy_of
from sourcebook.search.suggestion import suggested_query
from sourcebook.search.superseding import behind_successors, with_relations


@dataclass(frozen=True, slots=True)
class SearchResources:
    """Connections, threads and models that all searches of a knowledge base share."""

    connections: ConnectionPool
    executor: Executor
    """Runs the keyword leg beside the vector leg, and embeds a query ahead."""
    vectors: QueryVectors
    reranker: Reranker
    query_log: QueryLog = field(default_factory=QueryLog)
    usage: UsageLog = field(default_factory=UsageLog)
    """Counts what models are used for."""


def run_search(resources: SearchResources, request: SearchRequest) -> SearchResults:
    """Return the page of results that a request asks for.

    A search checks out at most three connections: one that it holds, a second one for the keyword leg where one is
    free, and the first one again after reranking. A search that loads an embedding model checks out its own again
    afterwards, and no second one. It never waits for a connection or loads a model while it holds a connection.

    A search that loses its connection, or that the database ends because of a deadlock with a process that replaces or
    deletes tables, is run once more: it only reads.
    """
    with SearchObservation(request) as observation:
        try:
            results = _run(resources, request, observation)
        except (DatabaseConnectionLostError, DatabaseDeadlockError):
            results = _run(resources, request, observation)
        return observation.found(results)


def _run(resources: SearchResources, request: SearchRequest, observation: SearchObservation) -> SearchResults:
    started = time.perf_counter()
    by_meaning = asks_vectors(request) and bool(request.query.text)
    if by_meaning:
        resources.vectors.begin(resources.executor, request.collections, request.query.text)
    with resources.connections.hold() as held:
        scope = find_scope(held.connection, request.collections, request.generations)
        has_loaded = False
        while _load_models(held, resources.vectors, scope, request):
            has_loaded = True
            # Another generation may have become active in the meantime.
            scope = find_scope(held.connection, request.collections, request.generations)
        if by_meaning:
            resources.vectors.remember(request.collections, scope.generations)
        condition, notes = _condition(held.connection, scope, request)
        asked, (request, strategy) = request, _with_strategy(request)
        search = CandidateSearch(
            resources.connections,
            resources.executor,
            resources.vectors,
            held.connection,
            scope,
            observation,
            has_loaded,
        )
        ranked, documents = search.find(request, condition, strategy)
        if request.query.has_operators and not (ranked.candidates or request.keeps_conditions):
            for query, note in request.query.relaxed():
                looser, other_strategy = _with_strategy(replace(asked, query=query))
                condition, looser_notes = _condition(held.connection, scope, looser)
                beyond, documents = search.find(looser, condition, other_strategy)
                if beyond.candidates:
                    request, strategy, ranked, notes = looser, other_strategy, beyond, [*looser_notes, note]
                    break
        if request.rerank and request.strategy == "auto":
            strategy = strategy.with_reranking(ranked.candidates)
            request = request if strategy.reranks else replace(request, rerank=None)
        found = time.perf_counter()
        terms = _terms(held.connection, scope, request, ranked.legs)
        settled = _settled(held.connection, scope, request, terms, ranked)
        ordered = Ordered(settled.candidates)
        if request.rerank or request.group_by or request.diversity:
            ordered = rerank_group_diversify(held, resources.reranker, scope, request, ordered.candidates, documents)
        if request.superseded == "behind":
            behind = behind_successors(held.connection, scope, ordered.candidates)
            ordered = replace(ordered, candidates=behind)
        page, next_offset, page_notes = _page(request, ordered.candidates, everything=ranked.has_everything)
        reading = time.perf_counter()
        observation.part("ordering", (reading - found) * 1000)
        relevant = relevant_page(held.connection, scope, request, ranked, page, settled.held)
        results = read_results(held.connection, scope.ids, relevant.candidates, request.neighbours, settled.passages)
        results = _with_snippets(resources.vectors, held.connection, scope, request, terms, results, settled)
        suggestion = _suggestion(held.connection, scope, request, terms, ranked.first_legs)
        if scope.redactions and not request.unredacted:
            from sourcebook.search.redacted_results import redact_results, redact_suggestion

            results = redact_results(held.connection, results, scope.redactions)
            suggestion = redact_suggestion(suggestion, scope.redactions)
        shown_redactions = {} if request.unredacted else scope.redactions
        results, linked = with_relations(held.connection, results, request.expand, shown_redactions)
        if request.generations:
            find_scope(held.connection, request.collections, request.generations)  # none was deleted meanwhile
        facets = _facets(held.connection, scope, ranked) if request.facets else None
        ended = time.perf_counter()
        observation.part("reading", (ended - reading) * 1000)
        explanation = None
        if request.explain:
            explanation = _explain(
                held.connection, request, strategy, ranked, relevant, ordered.rerank_ms, (ended - reading) * 1000
            )
    notes += dict.fromkeys(chain.from_iterable(leg.notes for leg in ranked.legs.values()))
    notes += [ordered.note, *page_notes] if ordered.note else page_notes
    if scope.logged and request.logged is not None and not (request.offset or request.generations):
        resources.query_log.add(scope.logged, redacted(request.logged), len(results))
    return SearchResults(
        results,
        round((ended - started) * 1000, 3),
        {name: leg.dropped for name, leg in ranked.legs.items() if leg.dropped is not None},
        len(ordered.candidates),
        request.offset,
        next_offset,
        tuple(note.removesuffix(".") for note in notes),
        explanation,
        tuple(scope.ids),
        suggestion,
        relevant.nothing_relevant,
        relevant.withheld,
        facets,
        linked,
    )


def _with_strategy(request: SearchRequest) -> tuple[SearchRequest, Strategy]:
    """Return a request with the weights of its strategy, and the strategy."""
    if request.strategy == "fixed":
        return request, FIXED
    strategy = strategy_of(request.query)
    return replace(request, fusion=strategy.weighted(request.fusion)), strategy


def _load_models(held: HeldConnection, vectors: QueryVectors, scope: SearchScope, request: SearchRequest) -> bool:
    """Load the embedding models of a search that are not loaded yet; return whether there were any.

    Providers are asked for the vector of the query here, too: no connection is held while they answer.
    """
    if not asks_vectors(request) or not request.query.text:
        return False
    text = request.query.text
    missing = [each[0] for each in scope.by_model().values() if not vectors.is_ready(each[0], text)]
    if missing:
        with held.given_back():
            for generation in missing:
                vectors.prepare(generation, text)
    return bool(missing)


def _condition(
    connection: Connection, scope: SearchScope, request: SearchRequest
) -> tuple[EntryCondition | None, list[str]]:
    """Return the condition that the query's operators and the filters set for every entry, and notes."""
    conditions, notes = required_terms(connection, scope, request.query) if request.query.has_operators else ([], [])
    filtered = condition_of(request.filters)
    if request.query.prose:
        notes.append(
            "the query is running text: its quotation marks and dashes are text; --operators (literal=False in Python) "
            "makes them operators"
        )
    notes += [
        f"the collection {name} has nothing searchable yet; run  sourcebook ingest {name}" for name in scope.not_indexed
    ]
    return EntryCondition.all_of([*conditions, *([filtered] if filtered is not None else [])]), notes


def _page(
    request: SearchRequest, candidates: Sequence[Candidate], *, everything: bool
) -> tuple[Sequence[Candidate], int | None, list[str]]:
    """Return the candidates of the page, the offset of the next page, and notes on an empty or a last page."""
    units = "documents" if request.group_by else "passages"
    end = request.offset + request.limit
    page = candidates[request.offset : end]
    is_last = end >= len(candidates)
    notes = []
    if request.offset and not page:
        notes.append(
            f"the page begins behind {request.offset:,} {units}, and the search found {len(candidates):,}: "
            "the last page is an earlier one"
        )
    next_offset = None if is_last or end > LARGEST_OFFSET else end
    if page and next_offset is None and not (is_last and everything):
        notes.append(
            f"each leg ranks its first {DEEPEST:,} entries; {units} behind them are not listed: narrow the search"
        )
    return page, next_offset, notes


def _terms(
    connection: Connection, scope: SearchScope, request: SearchRequest, legs: Mapping[str, LegResult]
) -> Sequence[QueryTerm]:
    """Return the terms of the query, stand-ins included; the keyword leg has them already."""
    terms = legs["keyword"].terms if "keyword" in legs else None
    if terms is None:
        found = query_terms(connection, scope, request.query.text)
        terms = tuple(with_stand_ins(connection, scope, found, typos=request.typos))
    return terms


def _suggestion(
    connection: Connection,
    scope: SearchScope,
    request: SearchRequest,
    terms: Sequence[QueryTerm],
    legs: Mapping[str, LegResult],
) -> str | None:
    """Return the query with known words in place of unknown ones; the keyword leg has looked it up already."""
    if "keyword" in legs:
        return legs["keyword"].suggestion
    return None if request.typos else suggested_query(connection, scope, request.query.text, terms)


def _settled(
    connection: Connection,
    scope: SearchScope,
    request: SearchRequest,
    terms: Sequence[QueryTerm],
    ranked: RankedList,
) -> SettledList:
    """Return the candidates with the passages of each document in their order; a search by vectors keeps theirs."""
    candidates = ranked.candidates
    if "keyword" not in ranked.legs or request.rerank or request.diversity:
        return SettledList(candidates)
    is_plain = not (request.group_by or request.neighbours)
    shown = candidates[request.offset : request.offset + request.limit] if is_plain else []
    return settle_places(connection, scope, request.query.text, terms, candidates, shown)


def _with_snippets(
    vectors: QueryVectors,
    connection: Connection,
    scope: SearchScope,
    request: SearchRequest,
    terms: Sequence[QueryTerm],
    results: Sequence[SearchResult],
    settled: SettledList,
) -> tuple[SearchResult, ...]:
    """Return the results with their highlights and snippets."""
    known = {settled.passages[chunk]["text"]: marked for chunk, marked in settled.highlights.items()}
    missing = [result.text for result in results if result.text not in known]
    known |= zip(missing, find_highlights(connection, scope, terms, missing), strict=True)
    wordless = {number: result for number, result in enumerate(results) if not known[result.text]}
    nearest = {}
    if wordless and request.snippets == "meaning" and asks_vectors(request) and request.query.text:
        nearest = nearest_sentences(vectors, scope, request.query.text, wordless)
    return tuple(with_snippet(result, known[result.text], nearest.get(number)) for number, result in enumerate(results))


def _facets(connection: Connection, scope: SearchScope, ranked: RankedList) -> Facets:
    documents = read_documents(connection, scope.ids, [candidate.chunk_id for candidate in ranked.candidates])
    return count_facets(connection, set(documents.values()))


def _explain(
    connection: Connection,
    request: SearchRequest,
    strategy: Strategy,
    ranked: RankedList,
    relevant: RelevantPage,
    rerank_ms: float | None,
    reading_ms: float,
) -> Explanation:
    legs = ranked.legs
    fusion = request.fusion
    return Explanation(
        query=str(request.query),
        legs=tuple(leg.explain(connection, name) for name, leg in legs.items()),
        fusion=fusion.describe() if len(legs) > 1 else "none: one leg alone",
        weights={
            name: round(fusion.weight(name) * (leg.language_weight * leg.model_weight if fusion.by_language else 1), 3)
            for name, leg in legs.items()
        },
        depth=ranked.depth,
        embedding_ms=legs["vector"].embedding_ms if "vector" in legs else None,
        rerank_ms=rerank_ms,
        reading_ms=round(reading_ms, 3),
        relevance=relevant.explanations,
        strategy=str(strategy) if request.strategy == "auto" else None,
    )
