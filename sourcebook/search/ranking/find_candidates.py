"""Second step of a search: its candidates by both legs, in one ranked list that is long enough for the page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import replace
from itertools import chain
from typing import Final

from psycopg import Connection

from sourcebook.contract.faces import advice
from sourcebook.contract.filters import Filters
from sourcebook.search.query_syntax import ParsedQuery
from sourcebook.search.query_terms import expanded_text
from sourcebook.search.ranking.duplicates import BLOCK, Identity, first_identities, fold, read_identities
from sourcebook.search.ranking.filter_conditions import condition_of
from sourcebook.search.ranking.found import FoundRule
from sourcebook.search.ranking.fusion import Candidate, RankedList
from sourcebook.search.ranking.keyword_leg import KeywordLeg
from sourcebook.search.ranking.leg import LegResult
from sourcebook.search.ranking.merged_list import MergedList
from sourcebook.search.ranking.passages import read_documents
from sourcebook.search.ranking.required_terms import required_terms
from sourcebook.search.ranking.stack_traces import stack_trace
from sourcebook.search.ranking.state import Found, SearchState
from sourcebook.search.ranking.strategy import FIXED, Strategy, strategy_of
from sourcebook.search.ranking.traced_files import FixedList, traced_passages
from sourcebook.search.ranking.vector_leg import VectorLeg
from sourcebook.search.ranking.verbatim_order import look_at_first
from sourcebook.search.ranking.version_questions import NEAREST, ChangeQuestion, change_question, versions_asked_for
from sourcebook.search.scope import EntryCondition
from sourcebook.telemetry.spans import span

_BY_WORDS: Final = 20
"""Passages, the best ones by words, that may take a better place of their document."""
_COUNTED: Final = 1_000
"""Passages that are ranked, at least, where a search counts facets: their documents are counted."""


def find_candidates(state: SearchState) -> None:
    """Search by both legs; without conditions of the query where no passage fulfils them, which a note says."""
    state.found = _found(state, state.query)
    if state.query.has_operators and not (state.found.ranked.candidates or state.request.literal is False):
        for query, note in state.query.relaxed():
            looser = _found(state, query)
            if looser.ranked.candidates:
                state.query, state.found = query, replace(looser, notes=[*looser.notes, note])
                break
    legs = state.found.ranked.legs.values()
    state.notes += [*state.found.notes, *dict.fromkeys(chain.from_iterable(leg.notes for leg in legs))]


def _found(state: SearchState, query: ParsedQuery) -> Found:
    """Return the candidates of a query, at least as many as its page needs."""
    request, scope = state.request, state.scope
    strategy = FIXED if request.strategy == "fixed" else strategy_of(query)
    fusion = strategy.weighted(request.fusion)
    condition, notes = _condition(state, query)
    shown = request.offset + state.limit + 1  # one more tells whether there is a next page
    least = max(shown, request.rerank.top if request.rerank else 0, _COUNTED if request.facets else 0)
    documents: dict[int, int] = {}
    identities: dict[int, Identity] = {}
    both = state.asks_vectors and state.asks_words and not state.has_loaded
    with state.resources.connections.spare_connection() if both else nullcontext() as spare:

        def listed(text: str, condition: EntryCondition | None, *, suggests: bool = False) -> RankedList:
            return RankedList(_legs(state, text, condition, spare, fusion.depth if suggests else 0), fusion)

        ranked = listed(query.text, condition, suggests=not request.typos)
        parts = [listed(part, condition) for part in strategy.parts]
        files = [listed(query.text, each) for each in _named_files(state, strategy)]
        if changed := change_question(query.text):
            files += _versions(state, changed, condition, listed, notes)
        if (trace := stack_trace(request.query)) and scope.generations:
            lines = traced_passages(state.held.connection, scope, trace.frames, condition)
            files += [FixedList(lines, ranked)] if lines else []
            parts += [listed(trace.message, condition)] if trace.message and lines else []
        if parts or files:
            ranked = MergedList(ranked, parts, files)
        rule, candidates, is_complete = FoundRule(state, ranked), list[Candidate](), False
        while scope.generations:
            known = len(ranked.candidates)
            ranked.extend()
            new = rule.found(known)
            candidates += new
            if request.group_by:
                chunks = [candidate.chunk_id for candidate in new]
                documents |= read_documents(state.held.connection, scope.ids, chunks)
            places = _places(state, ranked, candidates, documents, identities, shown)
            if len(candidates) >= least and places >= shown:
                break
            is_complete = rule.is_complete  # which asks the database: only a last page needs to know
            if ranked.is_final or is_complete:
                break
    is_complete = is_complete or ranked.has_everything
    return Found(ranked, strategy, fusion, notes, documents, candidates, is_complete, identities)


def _places(
    state: SearchState,
    ranked: RankedList,
    candidates: Sequence[Candidate],
    documents: Mapping[int, int],
    identities: dict[int, Identity],
    shown: int,
) -> int:
    """Return the number of places that candidates take, documents where there are some, without duplicates.

    Identities are read block by block, as far as the page needs them, and of all candidates where another order needs
    them. The first block is the same for every page, with the passages that may change places by their words.
    """
    request = state.request
    if request.duplicates == "show":
        return len(set(documents.values())) if documents else len(candidates)
    reads_all = bool(request.rerank or request.diversity or request.group_by) or request.superseded == "behind"
    while True:
        known = candidates[: next((at for at, each in enumerate(candidates) if each.chunk_id not in identities), None)]
        distinct = fold(known, identities, by_document=bool(documents))
        places = len({documents.get(each.chunk_id) for each in distinct}) if documents else len(distinct)
        unread = [each for each in candidates[len(known) :] if each.chunk_id not in identities]
        if (places >= shown and not reads_all) or not unread:
            return places
        block = unread[: len(unread) if reads_all and identities else max(BLOCK, shown - places)]
        if not identities:
            block = unread[:BLOCK] + [
                each for each in unread[BLOCK:] if (each.keyword_rank or _BY_WORDS + 1) <= _BY_WORDS
            ]
        chunks = [candidate.chunk_id for candidate in block]
        connection, ids = state.held.connection, state.scope.ids
        if not identities:
            keyword = ranked.legs.get("keyword")
            state.first = look_at_first(state, (keyword and keyword.terms) or (), chunks, candidates)
            found = first_identities(connection, ids, state.first)
        else:
            found = read_identities(connection, ids, chunks)
        identities |= {chunk: found.get(chunk) or Identity(0, (), None) for chunk in chunks}


def _versions(
    state: SearchState,
    question: ChangeQuestion,
    condition: EntryCondition | None,
    listed: Callable[[str, EntryCondition | None], RankedList],
    notes: list[str],
) -> Iterator[RankedList]:
    """Yield the list of each of the two versions that a question about a change is about, which a note names."""
    wanted = state.request.filters or Filters()
    topic = question.topic or state.query.text
    if not state.scope.generations or wanted.documents is not None:
        return
    probe = listed(topic, condition)
    probe.extend()
    connection, ids = state.held.connection, state.scope.ids
    first = [candidate.chunk_id for candidate in probe.candidates[:NEAREST]]
    documents = read_documents(connection, ids, first)
    nearest = [documents[chunk] for chunk in first if chunk in documents]
    versions = versions_asked_for(connection, question, nearest, ids, condition)
    for document in versions:
        yield listed(topic, condition_of(replace(wanted, documents=(document,)), state.scope))
    if versions:
        notes.append(f"documents {versions[0]} and {versions[1]} are two versions: their diff says what changed")


def _condition(state: SearchState, query: ParsedQuery) -> tuple[EntryCondition | None, list[str]]:
    """Return the condition that the query's operators and the filters set for every entry, and notes."""
    conditions, notes = required_terms(state.held.connection, state.scope, query) if query.has_operators else ([], [])
    filtered = condition_of(state.request.filters, state.scope)
    if query.prose:
        notes.append(f"the query is running text: its quotation marks and dashes are text{advice('operators')}")
    notes += [
        f"the collection {name} has nothing searchable yet{advice('ingest', name=name)}"
        for name in state.scope.not_indexed
    ]
    return EntryCondition.all_of([*conditions, *([filtered] if filtered is not None else [])]), notes


def _legs(
    state: SearchState, text: str, condition: EntryCondition | None, spare: Connection | None, suggesting_depth: int
) -> Callable[[int], dict[str, LegResult]]:
    """Return a function that asks the legs for a number of entries, at the same time with a spare connection."""
    is_part = text != state.query.text
    held = tuple(each for each in state.expansions if not is_part or each.words.casefold() in text.casefold())
    spelt = expanded_text(text, held)
    vector = VectorLeg(state.resources.vectors, state.scope, spelt, condition) if state.asks_vectors else None
    words = KeywordLeg(state.scope, text, condition, state.request.typos, held) if state.asks_words else None

    def ask(name: str, leg: VectorLeg | KeywordLeg, connection: Connection, depth: int) -> LegResult:
        with span(f"search.{name}_leg", {"depth": depth}, is_confidential=True):
            result = leg.find(connection, depth)
        state.observation.part(name, result.ms)
        if result.embedding_ms is not None:
            state.observation.part("embedding", result.embedding_ms)
        return result

    def find(depth: int) -> dict[str, LegResult]:
        found = {}
        beside = None
        keyword = replace(words, suggests=depth == suggesting_depth) if words else None
        if keyword and spare:
            beside = state.resources.executor.submit(copy_context().run, ask, "keyword", keyword, spare, depth)
        try:
            if vector:
                found["vector"] = ask("vector", vector, state.held.connection, depth)
        finally:
            if beside:
                wait([beside])  # after an error, too: the spare connection is in use until then
        if keyword:
            found["keyword"] = beside.result() if beside else ask("keyword", keyword, state.held.connection, depth)
        return found

    return find


def _named_files(state: SearchState, strategy: Strategy) -> Iterator[EntryCondition | None]:
    """Yield the condition on passages of the files that the query names, unless the filters name some already."""
    wanted = state.request.filters or Filters()
    if strategy.files and wanted.documents is None:
        yield condition_of(replace(wanted, documents=strategy.files), state.scope)
