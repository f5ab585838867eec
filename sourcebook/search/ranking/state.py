"""State of a search, which its steps fill one after the other, and what all searches share."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Final

from sourcebook.contract.fusion import Fusion
from sourcebook.contract.other_documents import LinkedDocument
from sourcebook.contract.search import SearchRequest
from sourcebook.contract.search_results import Facets, SearchResult
from sourcebook.database.pool import Connections, HeldConnection
from sourcebook.database.query_log import QueryLog
from sourcebook.database.usage_log import UsageLog
from sourcebook.search.observation import SearchObservation
from sourcebook.search.query_syntax import ParsedQuery, parse_query
from sourcebook.search.query_terms import Expansion, QueryTerm
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.ranking.duplicates import Identity
from sourcebook.search.ranking.fusion import Candidate, RankedList
from sourcebook.search.ranking.highlights import Highlight
from sourcebook.search.ranking.passages import HeldWords, Row
from sourcebook.search.ranking.relevance import Evidence
from sourcebook.search.ranking.reranking.reranker import Reranker
from sourcebook.search.ranking.strategy import Strategy
from sourcebook.search.scope import SearchScope

_USUAL_RESULTS: Final = 5
"""Results of a page where neither the request nor the collections say how many."""


@dataclass(frozen=True, slots=True)
class SearchResources:
    """Connections, threads and models that all searches of a knowledge base share."""

    connections: Connections
    executor: Executor
    """Runs the keyword leg beside the vector leg, and embeds a query ahead."""
    vectors: QueryVectors
    reranker: Reranker
    query_log: QueryLog = field(default_factory=QueryLog)
    usage: UsageLog = field(default_factory=UsageLog)
    """Counts what models are used for."""


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates by both legs."""

    ranked: RankedList
    strategy: Strategy
    fusion: Fusion
    """The request's, with the weights of the strategy."""
    notes: Sequence[str]
    documents: Mapping[int, int]
    """Document id by chunk id, where results are grouped by document."""
    candidates: list[Candidate]
    """Those of the ranked list that count as found; see `ranking/found.py`."""
    is_complete: bool
    """Whether there is no further one."""
    identities: Mapping[int, Identity] = field(default_factory=dict)
    """Identity of each passage by chunk id, where duplicates are folded."""


@dataclass(frozen=True, slots=True)
class Page:
    """Candidates of a page, as far as they are relevant enough."""

    candidates: tuple[Candidate, ...]
    next_offset: int | None
    nothing_relevant: bool
    """Whether candidates were found and none of the first ones is relevant."""
    withheld: int
    """Number of candidates of the page that are not shown."""
    explanations: tuple[str, ...]
    """The relevance of every candidate of the page, those not shown included, as a sum of log-odds."""


@dataclass(slots=True)
class SearchState:
    """A search on its way; a step reads what the steps before it have filled."""

    resources: SearchResources
    request: SearchRequest
    observation: SearchObservation
    held: HeldConnection
    """Connection of the search, given back while a model is loaded or reranks."""
    query: ParsedQuery = field(init=False)
    """The query; with fewer conditions where no passage fulfils all of them, and a long text condensed."""
    is_condensed: bool = False
    """Whether the query's text is long, and what is rare in it stands in its place."""
    started: float = field(default_factory=time.perf_counter)
    notes: list[str] = field(default_factory=list)

    scope: SearchScope = field(init=False)
    defaults: Mapping[str, float] = field(default_factory=dict)
    """Options of the request that the settings of the collections gave."""
    expansions: Sequence[Expansion] = ()
    """Words that are searched beside those of the query."""
    has_loaded: bool = False
    """Whether a model was loaded: the legs then run one after the other, on one connection."""

    found: Found = field(init=False)

    candidates: list[Candidate] = field(init=False)
    """Candidates in the order of the pages."""
    terms: Sequence[QueryTerm] = ()
    """Terms of the query, stand-ins included."""
    first: dict[int, Row] = field(default_factory=dict)
    """Rows of the first candidates by chunk id, from `first_passages`."""
    rows: dict[int, Row] = field(default_factory=dict)
    """Rows of passages that were read for their order, by chunk id."""
    highlights: Mapping[int, Sequence[Highlight]] = field(default_factory=dict)
    """Highlights of their texts by chunk id."""
    held_words: Mapping[int, HeldWords] = field(default_factory=dict)
    """Words of the query that the first candidates hold, by chunk id."""
    evidence: dict[int, Evidence] = field(default_factory=dict)
    """Evidence for the relevance of the candidates that were judged, by chunk id."""
    strategy: Strategy = field(init=False)
    rerank_ms: float | None = None
    """Milliseconds that reranking took; None without it."""

    page: Page = field(init=False)

    counted: Sequence[Candidate] = ()
    """Candidates that the total and the facets count."""

    results: tuple[SearchResult, ...] = ()
    linked: tuple[LinkedDocument, ...] = ()
    suggestion: str | None = None
    facets: Facets | None = None
    reading_ms: float = 0.0

    asks_vectors: bool = field(init=False)
    """Whether the search has a vector leg."""
    asks_words: bool = field(init=False)
    """Whether the search has a keyword leg."""
    embeds_query: bool = field(init=False)
    """Whether the search needs a vector of the query."""

    def __post_init__(self) -> None:
        """Read the operators of the query, and which legs it has."""
        mode, fusion = self.request.mode, self.request.fusion
        self.query = parse_query(self.request.query, literal=self.request.literal)
        self.asks_vectors = mode == "vector" or (mode == "hybrid" and fusion.vector > 0)
        self.asks_words = mode == "keyword" or (mode == "hybrid" and fusion.keyword > 0)
        self.embeds_query = self.asks_vectors and bool(self.query.text)

    def take_defaults(self) -> None:
        """Give the request the options that it leaves to the collections, once the scope is known."""
        given = {name: value for name, value in self.scope.defaults.items() if getattr(self.request, name) is None}
        if given:
            self.request, self.defaults = replace(self.request, **given), given  # type: ignore[arg-type] # as in settings

    @property
    def limit(self) -> int:
        """Results of the page, at most."""
        return self.request.limit or _USUAL_RESULTS

    @property
    def neighbours(self) -> int:
        """Passages before and after each result."""
        return self.request.neighbours or 0
