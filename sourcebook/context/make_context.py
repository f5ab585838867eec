"""A context from the checked request: search, assembly, and a cache that the next publication empties."""

import json
import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from psycopg import Connection

from sourcebook.context.assembly import Assembled, Hashes, assemble
from sourcebook.context.linked import linked_passages
from sourcebook.context.passages import ContextPassage, passages_of
from sourcebook.context.request import ContextRequest
from sourcebook.context.results import ContextResult
from sourcebook.database.queries import queries
from sourcebook.search.recent_cache import RecentCache
from sourcebook.search.redaction import redacted
from sourcebook.search.request import MOST_RESULTS
from sourcebook.search.results import NOTHING_RELEVANT, SearchResults
from sourcebook.search.run_search import SearchResources, run_search
from sourcebook.search.search_scope import SearchScope, find_scope

_MOST_CONTEXTS: Final = 256
"""Contexts that are kept."""

ContextCache = RecentCache[Hashable, ContextResult]


def new_cache() -> ContextCache:
    """Return an empty cache of contexts."""
    return RecentCache(_MOST_CONTEXTS)


def make_context(resources: SearchResources, cache: ContextCache, request: ContextRequest) -> ContextResult:
    """Return the context that a request asks for.

    It comes from the cache where the same was asked of the same collections, in the same generations, with the same
    settings of redaction, and no passage was published or removed since. Contexts with filters, with a reranking model
    or by relations, and those of collections with patterns of their own, are made each time.

    Raises:
        SourcebookError: see `KnowledgeBase.search`.
    """
    key = None
    with resources.connections.hold() as held:
        scope = find_scope(held.connection, request.search.collections, request.search.generations)
        if _is_cacheable(request, scope):
            key = _key(held.connection, request, scope)
    known = cache.get(key) if key is not None else None
    if known is not None:
        if scope.logged and request.search.logged is not None and not request.search.generations:
            resources.query_log.add(scope.logged, redacted(request.search.logged), len(known.sources))
        return replace(known, is_cached=True)
    reading = _Reading(resources, request, scope, key)
    made = _make(resources, request, reading)
    if key is not None and not reading.is_outdated:
        cache.add(key, made)
    return made


@dataclass
class _Reading:
    """Reads a context's documents beside its searches, and notices whether something was published meanwhile."""

    resources: SearchResources
    request: ContextRequest
    scope: SearchScope
    """Collections and generations when the context began."""
    key: Hashable | None
    """Key of the cache when the context began; None where it is not kept."""
    is_outdated: bool = False

    def hashes(self, results: SearchResults, linked: Sequence[ContextPassage] = ()) -> Hashes:
        """Return the hashes of the documents of results; none of redacted ones, as their content could be guessed."""
        shown = dict.fromkeys((result.generation, result.document_id) for result in results)
        shown |= dict.fromkeys(passage.document for passage in linked)
        with self.resources.connections.hold() as held:
            if self.key is not None and self.key != _key(held.connection, self.request, self.scope):
                self.is_outdated = True
            if not shown:
                return {}
            scope = self.scope
            if not set(results.generations) <= set(scope.ids):
                scope = find_scope(held.connection, None, results.generations)
            redacted_generations = {each.id for each in scope.generations if each.collection in scope.redactions}
            wanted = [each for each in shown if each[0] not in redacted_generations]
            documents = {"generations": [each[0] for each in wanted], "documents": [each[1] for each in wanted]}
            rows = held.connection.execute(queries["published_hashes"], documents).fetchall()
        return {(generation, document): digest for generation, document, digest in rows}


def _is_cacheable(request: ContextRequest, scope: SearchScope) -> bool:
    search = request.search
    has_patterns = any(settings.get("patterns") for settings in scope.redactions.values())
    by_relations = bool(search.expand) or search.superseded != "shown"
    return search.filters is None and search.rerank is None and not (by_relations or has_patterns)


def _key(connection: Connection, request: ContextRequest, scope: SearchScope) -> Hashable:
    state = connection.execute(queries["publication_state"], {"generations": scope.ids}).fetchall()
    redactions = json.dumps(dict(scope.redactions), sort_keys=True, default=str)
    asked = replace(request.search, logged=None)
    return (
        request.question, asked, request.max_tokens, request.format, request.tokenizer, tuple(state), redactions,
        scope.not_indexed,
    )  # fmt: skip


def _make(resources: SearchResources, request: ContextRequest, reading: _Reading) -> ContextResult:
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
        page = run_search(resources, replace(request.search, offset=page.next_offset, logged=None, expand=()))
        searched += (time.perf_counter() - begun) * 1000
        hashes.update(reading.hashes(page))
        first, rank = rank, rank + len(page)
        return list(passages_of(page, first))

    assembled = assemble(request, request.question, passages, hashes, more, linked)
    return _result(request, results, assembled, searched, (time.perf_counter() - started) * 1000)


def _once(passages: Iterable[ContextPassage]) -> list[ContextPassage]:
    """Return passages without those that two results bring, as neighbours of both."""
    found: dict[tuple[int, int, int], ContextPassage] = {}
    for passage in passages:
        found.setdefault(passage.key, passage)
    return list(found.values())


def _result(
    request: ContextRequest, results: SearchResults, made: Assembled, search_ms: float, took_ms: float
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
        request.tokenizer,
        request.counter.is_exact,
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
