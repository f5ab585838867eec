"""A context from the checked request: search, assembly, and a cache that the next publication empties."""

import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sourcebook.context.assembly import Hashes, assemble
from sourcebook.context.context_cache import ContextCache, ContextState
from sourcebook.context.passages import ContextPassage, passages_of
from sourcebook.context.tokens import TokenCounter, token_counter
from sourcebook.contract.context_results import ContextResult
from sourcebook.contract.filters import Filters
from sourcebook.contract.search import MOST_RESULTS, ContextRequest, SearchRequest
from sourcebook.contract.search_results import SearchResults
from sourcebook.database.queries import queries
from sourcebook.redaction.for_models import NO_RULES, SECRETS_ALONE, has_rules
from sourcebook.search.query_redaction import redacted
from sourcebook.search.ranking.state import SearchResources
from sourcebook.search.run import run_search
from sourcebook.search.scope import find_scope

_LINKING: Final = 5
"""Best documents of a search whose relations lead further."""
_MOST_LINKED: Final = 20
"""Documents that they lead to, at most: those that most of them name first."""
_PASSAGES: Final = 20
"""Passages of these that are looked at, those that answer best first."""


def make_context(resources: SearchResources, cache: ContextCache, request: ContextRequest) -> ContextResult:
    """Return the context that a request asks for.

    It comes from the cache where the same was asked of the same collections, in the same generations, with the same
    settings of redaction, and no passage was published or removed since. Contexts with filters, with a reranking model
    or by relations, and those of collections with patterns of their own, are made each time.

    The state of the collections is read after the search, as it decides what is shown. A context is kept where this is
    the state in which they were seen before: when the request began, where the same was asked earlier, else by the
    request before it. The first one after a publication is therefore not kept where nobody asked the same before.
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
    making = _Making(resources, request, counter)
    made = making.result()
    if asked is not None and len(making.states) == 1:
        (seen,) = making.states
        cache.states.add(covered, seen)
        if seen == state and not seen.has_patterns:
            cache.contexts.add(asked, (seen, made))
    return made


def _asked(request: ContextRequest, tokenizer: str) -> Hashable | None:
    """Return what a context is kept by beside the state of its collections; None where it is not kept."""
    search = request.search
    if search.filters is not None or search.rerank is not None or search.expand or search.superseded != "shown":
        return None
    return replace(search, log=True), request.max_tokens, request.format, tokenizer


@dataclass
class _Making:
    """A context on its way: its searches, and what is read beside them."""

    resources: SearchResources
    request: ContextRequest
    counter: TokenCounter
    states: set[ContextState] = field(default_factory=set)
    """States of the collections that were read; several where something was published meanwhile."""
    hashes: Hashes = field(default_factory=dict)
    next_offset: int | None = None
    """Offset of the page behind those that were searched; None where there is none."""
    rank: int = 0
    """Number of results that were found, and of linked passages."""
    search_ms: float = 0.0

    def result(self) -> ContextResult:
        """Search, and return the context."""
        started = time.perf_counter()
        results = self._search(self.request.search)
        passages = _once(passages_of(results))
        found = {passage.key: passage for passage in passages}
        linked = [found.get(passage.key, passage) for passage in linked_passages(self.resources, self.request, results)]
        self.search_ms = (time.perf_counter() - started) * 1000
        self.rank += len(linked)
        self._read_hashes(results, linked)
        made = assemble(self.request, self.counter, passages, self.hashes, self._more, linked)
        notes = [*results.notes, *made.notes]
        if not results.results:
            notes.append(results.why_empty[:-1])
        elif not (has_rules() or self.request.search.unredacted):
            notes.append(NO_RULES)
        form = self.request.format
        return ContextResult(
            form,
            made.rendered.text,
            tuple(made.rendered.blocks),
            made.tokens,
            self.request.max_tokens,
            self.counter.name,
            self.counter.is_exact,
            tuple(source.described() for source in made.sources),
            made.rendered.citations,
            tuple(made.left_out),
            tuple(notes),
            results.nothing_relevant,
            results.generations,
            made.boundary if made.sources and form != "anthropic" else None,
            round(self.search_ms, 3),
            round((time.perf_counter() - started) * 1000, 3),
        )

    def _search(self, request: SearchRequest) -> SearchResults:
        # A text that a program passes on holds dashes and quotation marks by chance.
        literal = True if request.literal is None else request.literal
        results = run_search(self.resources, replace(request, expand=(), literal=literal))
        self.next_offset = results.next_offset
        self.rank += len(results)
        return results

    def _more(self) -> Sequence[ContextPassage]:
        """Return the passages of the next page."""
        if self.next_offset is None or self.rank >= MOST_RESULTS:
            return ()
        first, begun = self.rank, time.perf_counter()
        page = self._search(replace(self.request.search, offset=self.next_offset, log=False))
        self.search_ms += (time.perf_counter() - begun) * 1000
        self._read_hashes(page)
        return list(passages_of(page, first))

    def _read_hashes(self, results: SearchResults, linked: Sequence[ContextPassage] = ()) -> None:
        """Read the hashes of the documents of results; none of redacted ones, as their content could be guessed."""
        shown = dict.fromkeys((result.generation, result.document_id) for result in results)
        shown |= dict.fromkeys(passage.document for passage in linked)
        with self.resources.connections.hold() as held:
            state = ContextState.read(held.connection, self.request.search)
            self.states.add(state)
            if not shown:
                return
            redacted_ids = state.redacted_ids
            if not set(results.generations) <= state.ids:  # another generation became active meanwhile
                scope = find_scope(held.connection, None, results.generations)
                redacted_ids |= {
                    each.id
                    for each in scope.generations
                    if scope.redactions.get(each.collection, SECRETS_ALONE) is not SECRETS_ALONE
                }
            wanted = [each for each in shown if each[0] not in redacted_ids]
            documents = {"generations": [each[0] for each in wanted], "documents": [each[1] for each in wanted]}
            rows = held.connection.execute(queries["published_hashes"], documents)
            self.hashes.update({(generation, document): digest for generation, document, digest in rows})


def _once(passages: Iterable[ContextPassage]) -> list[ContextPassage]:
    """Return passages without those that two results bring, as neighbours of both."""
    found: dict[tuple[int, int, int], ContextPassage] = {}
    for passage in passages:
        found.setdefault(passage.key, passage)
    return list(found.values())


def linked_passages(
    resources: SearchResources, request: ContextRequest, results: SearchResults
) -> list[ContextPassage]:
    """Return passages of documents that the best documents of a search refer to, best first.

    They fulfil the filters of the request. Where these name documents, no other one comes in.

    Args:
        resources: means of the search.
        request: with the kinds of relations that are followed.
        results: its first page.
    """
    search = request.search
    filters = search.filters or Filters()
    best = list(dict.fromkeys(result.document_id for result in results))[:_LINKING]
    if not (search.expand and best) or filters.documents is not None:
        return []
    wanted = {"documents": best, "kinds": list(search.expand), "limit": _MOST_LINKED}
    with resources.connections.hold() as held:
        linked = [row[0] for row in held.connection.execute(queries["linked_documents"], wanted)]
    if not linked:
        return []
    among = replace(
        search,
        filters=replace(filters, documents=linked),
        limit=_PASSAGES,
        min_relevance=search.min_relevance or 0.0,
        log=False,
        expand=(),
    )
    found = run_search(resources, among)
    return [replace(passage, is_linked=True) for passage in passages_of(found, len(results))]
