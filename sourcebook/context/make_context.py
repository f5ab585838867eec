"""A context from the checked request: search, assembly, and a cache that the next publication empties."""

import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from sourcebook.context.assembly import Assembled, Hashes, assemble
from sourcebook.context.context_cache import ContextCache, ContextState
from sourcebook.context.linked import linked_passages
from sourcebook.context.passages import ContextPassage, passages_of
from sourcebook.context.tokens import TokenCounter, token_counter
from sourcebook.contract.context_results import ContextResult
from sourcebook.contract.search import MOST_RESULTS, ContextRequest, SearchRequest
from sourcebook.contract.search_results import NOTHING_RELEVANT, SearchResults
from sourcebook.database.queries import queries
from sourcebook.search.query_redaction import redacted
from sourcebook.search.ranking.state import SearchResources
from sourcebook.search.run import run_search
from sourcebook.search.scope import find_scope


def make_context(resources: SearchResources, cache: ContextCache, request: ContextRequest) -> ContextResult:
    """Return the context that a request asks for.

    It comes from the cache where the same was asked of the same collections, in the same generations, with the same
    settings of redaction, and no passage was published or removed since. Contexts with filters, with a reranking model
    or by relations, and those of collections with patterns of their own, are made each time.

    The state of the collections is read after the search, as it decides what is shown. A context is kept where this is
    the state in which they were seen before: when the request began, where the same was asked earlier, else by the
    request before it. The first one after a publication is therefore not kept where nobody asked the same before.

    Raises:
        SourcebookError: see `KnowledgeBase.search`.
    """
    search, counter = request.search, token_counter(request.tokenizer)
    asked = _asked(request, counter.name)
    covered = search.collections, search.generation
    known = None if asked is None else cache.contexts.get(asked)
    state = None if asked is None else cache.states.get(covered)
    if asked is not None and (known is not None or state is None):
        with resources.connections.hold() as held:
            state = ContextState.read(held.connection, search)
    if known is not None and state is not None and known[0] == state:
        if state.logged and search.log and not search.generation:
            resources.query_log.add(state.logged, redacted(search.query), len(known[1].sources))
        return replace(known[1], is_cached=True)
    reading = _Reading(resources, search)
    made = _make(resources, request, counter, reading)
    if asked is not None and len(reading.states) == 1:
        (seen,) = reading.states
        cache.states.add(covered, seen)
        if seen == state and not seen.has_patterns:
            cache.contexts.add(asked, (seen, made))
    return made


@dataclass
class _Reading:
    """Reads a context's documents beside its searches, and the state of their collections."""

    resources: SearchResources
    search: SearchRequest
    states: set[ContextState] = field(default_factory=set)
    """States that were read; several where something was published meanwhile."""

    def hashes(self, results: SearchResults, linked: Sequence[ContextPassage] = ()) -> Hashes:
        """Return the hashes of the documents of results; none of redacted ones, as their content could be guessed."""
        shown = dict.fromkeys((result.generation, result.document_id) for result in results)
        shown |= dict.fromkeys(passage.document for passage in linked)
        with self.resources.connections.hold() as held:
            state = ContextState.read(held.connection, self.search)
            self.states.add(state)
            if not shown:
                return {}
            redacted_ids = state.redacted_ids
            if not set(results.generations) <= state.ids:  # another generation became active meanwhile
                scope = find_scope(held.connection, None, results.generations)
                redacted_ids |= {each.id for each in scope.generations if each.collection in scope.redactions}
            wanted = [each for each in shown if each[0] not in redacted_ids]
            documents = {"generations": [each[0] for each in wanted], "documents": [each[1] for each in wanted]}
            rows = held.connection.execute(queries["published_hashes"], documents).fetchall()
        return {(generation, document): digest for generation, document, digest in rows}


def _asked(request: ContextRequest, tokenizer: str) -> Hashable | None:
    """Return what a context is kept by beside the state of its collections; None where it is not kept."""
    search = request.search
    if search.filters is not None or search.rerank is not None or search.expand or search.superseded != "shown":
        return None
    return replace(search, log=True), request.max_tokens, request.format, tokenizer


def _make(
    resources: SearchResources, request: ContextRequest, counter: TokenCounter, reading: _Reading
) -> ContextResult:
    started = time.perf_counter()
    results = run_search(resources, replace(request.search, expand=()))
    passages = _once(passages_of(results))
    found = {passage.key: passage for passage in passages}
    linked = [found.get(passage.key, passage) for passage in linked_passages(resources, request, results)]
    searched = (time.perf_counter() - started) * 1000
    hashes = reading.hashes(results, linked)
    rank, page = len(results) + len(linked), results

    def more() -> Sequence[ContextPassage]:
        nonlocal rank, page, searched
        if page.next_offset is None or rank >= MOST_RESULTS:
            return ()
        begun = time.perf_counter()
        page = run_search(resources, replace(request.search, offset=page.next_offset, log=False, expand=()))
        searched += (time.perf_counter() - begun) * 1000
        hashes.update(reading.hashes(page))
        first, rank = rank, rank + len(page)
        return list(passages_of(page, first))

    assembled = assemble(request, counter, passages, hashes, more, linked)
    return _result(request, counter, results, assembled, searched, (time.perf_counter() - started) * 1000)


def _once(passages: Iterable[ContextPassage]) -> list[ContextPassage]:
    """Return passages without those that two results bring, as neighbours of both."""
    found: dict[tuple[int, int, int], ContextPassage] = {}
    for passage in passages:
        found.setdefault(passage.key, passage)
    return list(found.values())


def _result(
    request: ContextRequest,
    counter: TokenCounter,
    results: SearchResults,
    made: Assembled,
    search_ms: float,
    took_ms: float,
) -> ContextResult:
    is_fenced = bool(made.sources) and request.format != "anthropic"
    notes = [*results.notes, *made.notes]
    if not results.results:
        notes.append(
            (NOTHING_RELEVANT if results.nothing_relevant or results.withheld else "No passage was found.")[:-1]
        )
    return ContextResult(
        request.format,
        made.rendered.text,
        tuple(made.rendered.blocks),
        made.tokens,
        request.max_tokens,
        counter.name,
        counter.is_exact,
        tuple(source.described() for source in made.sources),
        made.rendered.citations,
        tuple(made.left_out),
        tuple(notes),
        results.nothing_relevant,
        results.generations,
        made.boundary if is_fenced else None,
        round(search_ms, 3),
        round(took_ms, 3),
    )
