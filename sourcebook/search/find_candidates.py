"""Candidates of a search: both legs, run at the same time, and their ranked list, long enough for the page."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, wait
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import dataclass, replace

from psycopg import Connection

from sourcebook.contract.filters import Filters
from sourcebook.database.pool import ConnectionPool
from sourcebook.search.facets import COUNTED
from sourcebook.search.filtering.conditions import condition_of
from sourcebook.search.fusion import LegResult, RankedList
from sourcebook.search.keyword_leg import KeywordLeg
from sourcebook.search.merged_list import MergedList
from sourcebook.search.ordering import read_documents
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.request import SearchRequest
from sourcebook.search.search_observation import SearchObservation
from sourcebook.search.search_scope import EntryCondition, SearchScope
from sourcebook.search.strategy import Strategy
from sourcebook.search.vector_leg import VectorLeg
from sourcebook.telemetry.spans import span


def asks_vectors(request: SearchRequest) -> bool:
    """Whether a search has a vector leg."""
    return request.mode == "vector" or (request.mode == "hybrid" and request.fusion.vector > 0)


def asks_words(request: SearchRequest) -> bool:
    """Whether a search has a keyword leg."""
    return request.mode == "keyword" or (request.mode == "hybrid" and request.fusion.keyword > 0)


@dataclass(frozen=True, slots=True)
class CandidateSearch:
    """Means of the search for candidates."""

    connections: ConnectionPool
    executor: Executor
    vectors: QueryVectors
    connection: Connection
    scope: SearchScope
    observation: SearchObservation
    in_turn: bool
    """Whether the legs run one after the other, on one connection."""

    def find(
        self, request: SearchRequest, condition: EntryCondition | None, strategy: Strategy
    ) -> tuple[RankedList, dict[int, int]]:
        """Return a ranked list that is long enough for the page, and the document ids of its candidates where grouped.

        Args:
            request: the search.
            condition: set for every entry by operators and filters.
            strategy: parts of the query and names of files that are searched beside it, on the same connections.
        """
        shown = request.offset + request.limit + 1  # one more tells whether there is a next page
        least = max(shown, request.rerank.top if request.rerank else 0, COUNTED if request.facets else 0)
        documents: dict[int, int] = {}
        both = asks_vectors(request) and asks_words(request) and not self.in_turn
        with self.connections.spare_connection() if both else nullcontext() as spare:

            def listed(text: str, condition: EntryCondition | None, *, suggests: bool = False) -> RankedList:
                return RankedList(self._legs(request, text, condition, spare, suggests), request.fusion)

            ranked = listed(request.query.text, condition, suggests=not request.typos)
            parts = [listed(part, condition) for part in strategy.parts]
            files = [listed(request.query.text, each) for each in _named_files(request, strategy)]
            if parts or files:
                ranked = MergedList(ranked, parts, files)
            while self.scope.generations:
                known = len(ranked.candidates)
                ranked.extend()
                if request.group_by:
                    new = [candidate.chunk_id for candidate in ranked.candidates[known:]]
                    documents |= read_documents(self.connection, self.scope.ids, new)
                enough = len(ranked.candidates) >= least and (
                    not request.group_by or len(set(documents.values())) >= shown
                )
                if enough or ranked.is_final:
                    break
        return ranked, documents

    def _legs(
        self,
        request: SearchRequest,
        text: str,
        condition: EntryCondition | None,
        spare: Connection | None,
        suggests: bool,
    ) -> Callable[[int], dict[str, LegResult]]:
        """Return a function that asks the legs for a number of entries, at the same time with a spare connection."""
        vector = VectorLeg(self.vectors, self.scope, text, condition) if asks_vectors(request) else None
        words = KeywordLeg(self.scope, text, condition, typos=request.typos) if asks_words(request) else None

        def ask(name: str, leg: VectorLeg | KeywordLeg, connection: Connection, depth: int) -> LegResult:
            with span(f"search.{name}_leg", {"depth": depth}, is_confidential=True):
                return self.observation.leg(name, leg.find(connection, depth))

        def find(depth: int) -> dict[str, LegResult]:
            found = {}
            beside = None
            first = suggests and depth == request.fusion.depth
            keyword = replace(words, suggests=first) if words else None
            if keyword and spare:
                beside = self.executor.submit(copy_context().run, ask, "keyword", keyword, spare, depth)
            try:
                if vector:
                    found["vector"] = ask("vector", vector, self.connection, depth)
            finally:
                if beside:
                    wait([beside])  # after an error, too: the spare connection is in use until then
            if keyword:
                found["keyword"] = beside.result() if beside else ask("keyword", keyword, self.connection, depth)
            return found

        return find


def _named_files(request: SearchRequest, strategy: Strategy) -> Iterator[EntryCondition | None]:
    """Yield the condition on passages of the files that the query names, unless the filters name some already."""
    filters = request.filters or Filters()
    if strategy.files and filters.documents is None:
        yield condition_of(replace(filters, documents=strategy.files))
