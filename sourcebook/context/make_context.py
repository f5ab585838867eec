"""A context from the checked request: search, assembly, and a cache that the next publication empties."""

import json
import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

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
    with resources.connections.hold() as held:
        state = _State.read(held.connection, request)
    key = (_asked(request), state) if _is_cacheable(request, state) else None
    known = cache.get(key) if key is not None else None
    if known is not None:
        if state.logged and request.search.logged is not None and not request.search.generations:
            resources.query_log.add(state.logged, redacted(request.search.logged), len(known.sources))
        return replace(known, is_cached=True)
    reading = _Reading(resources, request, state)
    made = _make(resources, request, reading)
    if key is not None and not reading.is_outdated:
        cache.add(key, made)
    return made


@dataclass(frozen=True, slots=True)
class _State:
    """Collections that a context is made of, as they were at one moment; equal ones give equal contexts."""

    generations: tuple[tuple[Any, ...], ...]
    """Name of the collection, id of the generation, and what every publication changes."""
    logged: tuple[str, ...]
    """Names of the collections that log queries."""
    redactions: tuple[tuple[str, str], ...]
    """Names of the collections that redact, and their settings as JSON."""

    @classmethod
    def read(cls, connection: Connection, request: ContextRequest) -> Self:
        """Return the state of the collections that a request covers; those that do not exist are left out."""
        search = request.search
        named = None if search.collections is None else list(search.collections)
        covered = {"collections": named, "generations": list(search.generations)}
        rows = connection.execute(queries["context_state"], covered).fetchall()
        return cls(
            tuple(tuple(row[:-2]) for row in rows),
            tuple(row[0] for row in rows if row[-2]),
            tuple((row[0], json.dumps(row[-1], sort_keys=True)) for row in rows if row[-1] is not None),
        )

    @property
    def has_patterns(self) -> bool:
        """Whether a collection redacts by patterns of its own, whose file may change."""
        return any(json.loads(settings).get("patterns") for _, settings in self.redactions)

    @property
    def redacted_generations(self) -> set[int]:
        """Ids of the generations of collections that redact."""
        names = {name for name, _ in self.redactions}
        return {row[1] for row in self.generations if row[0] in names}


@dataclass
class _Reading:
    """Reads a context's documents beside its searches, and notices whether something was published meanwhile."""

    resources: SearchResources
    request: ContextRequest
    state: _State
    """State when the context began."""
    is_outdated: bool = False

    def hashes(self, results: SearchResults, linked: Sequence[ContextPassage] = ()) -> Hashes:
        """Return the hashes of the documents of results; none of redacted ones, as their content could be guessed."""
        shown = dict.fromkeys((result.generation, result.document_id) for result in results)
        shown |= dict.fromkeys(passage.document for passage in linked)
        with self.resources.connections.hold() as held:
            state = _State.read(held.connection, self.request)
            if state != self.state:
                self.is_outdated = True
            if not shown:
                return {}
            redacted_generations = state.redacted_generations | self.state.redacted_generations
            known = {row[1] for row in (*state.generations, *self.state.generations)}
            wanted = [each for each in shown if each[0] in known and each[0] not in redacted_generations]
            documents = {"generations": [each[0] for each in wanted], "documents": [each[1] for each in wanted]}
            rows = held.connection.execute(queries["published_hashes"], documents).fetchall()
        return {(generation, document): digest for generation, document, digest in rows}


def _is_cacheable(request: ContextRequest, state: _State) -> bool:
    search = request.search
    by_relations = bool(search.expand) or search.superseded != "shown"
    return search.filters is None and search.rerank is None and not (by_relations or state.has_patterns)


def _asked(request: ContextRequest) -> Hashable:
    search = replace(request.search, logged=None)
    return request.question, search, request.max_tokens, request.format, request.tokenizer


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
