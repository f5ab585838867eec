"""The two legs of a search as it runs them: what each looks for, finds, and says of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from psycopg import Connection

from sourcebook.database.database import Database
from sourcebook.search.condition import EntryCondition
from sourcebook.search.expansion import with_stand_ins
from sourcebook.search.explanation import LegExplanation
from sourcebook.search.keyword_leg import keyword_plan, keyword_ranking, query_terms
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.scope import Scope, ScopedGeneration
from sourcebook.search.vector_leg import VectorRanking, nearest
from sourcebook.search.vector_plan import vector_plan


@dataclass(frozen=True, slots=True)
class Leg:
    """What a leg found."""

    ranking: list[tuple[int, float]] = field(default_factory=list)
    """(chunk id, score), best first."""
    dropped: str | None = None
    """Why it has nothing to say."""
    notes: tuple[str, ...] = ()
    ms: float = 0.0
    """In the database."""
    exact: bool = True
    query: str | None = None
    embedding_ms: float | None = None
    trust: float = 1.0
    """0..1: what its weight in the fusion is multiplied by."""
    plan: Callable[[Connection], str] | None = None

    def explain(self, connection: Connection, name: str) -> LegExplanation:
        """Return what it did, with PostgreSQL's plan of the same statement."""
        plan = self.plan(connection) if self.plan is not None else None
        return LegExplanation(name, round(self.ms, 3), len(self.ranking), self.exact, self.query or self.dropped, plan)


@dataclass(slots=True)
class VectorLeg:
    """By meaning."""

    vectors: QueryVectors
    scope: Scope
    text: str
    condition: EntryCondition | None

    def look(self, database: Database, depth: int) -> Leg:
        """Return the nearest entries; distances of different models are not of one scale, but each is a cosine."""
        if not self.text:
            return Leg(dropped="the query says only what must not be found")
        found: list[tuple[int, float]] = []
        notes: list[str] = []
        plans: list[tuple[list[ScopedGeneration], VectorRanking]] = []
        embedding = in_database = 0.0
        exact, trust = True, 1.0
        for generations in self.scope.by_model().values():
            started = time.perf_counter()
            query = self.vectors.embed(generations[0], self.text)
            embedded = time.perf_counter()
            with database.connection() as connection:
                ranking = nearest(connection, generations, query.vector, depth, self.condition)
            embedding += embedded - started
            in_database += time.perf_counter() - embedded
            found += ranking.hits
            notes += [query.note] if query.note else []
            if ranking.cut_off and self.condition is not None:
                notes.append("the filters left too few of the nearest passages: an exact scan found the rest")
            trust = min(trust, query.familiarity)
            exact = exact and ranking.is_exact
            plans.append((generations, ranking))
        ranking_of_all = sorted(found, key=lambda pair: (-pair[1], pair[0]))[:depth]
        none = "no passage fulfils the filters" if self.condition else "there is no passage"
        return Leg(
            ranking_of_all,
            None if ranking_of_all else none,
            tuple(notes),
            in_database * 1000,
            exact,
            ", ".join(self.scope.by_model()),
            round(embedding * 1000, 3),
            trust,
            lambda connection: "\n".join(
                vector_plan(connection, generations, ranking, depth, self.condition) for generations, ranking in plans
            ),
        )


@dataclass(slots=True)
class KeywordLeg:
    """By words."""

    scope: Scope
    text: str
    condition: EntryCondition | None
    typos: bool = False

    def look(self, database: Database, depth: int) -> Leg:
        """Return the entries with the highest BM25."""
        if not self.scope.configurations:
            return Leg(dropped="there is no passage")
        started = time.perf_counter()
        with database.connection() as connection:
            terms = query_terms(connection, self.scope, self.text) if self.text else []
            if not terms:
                only_excludes = "the query says only what must not be found"
                return Leg(dropped=_NO_WORD if self.text else only_excludes)
            terms = with_stand_ins(connection, self.scope, terms, typos=self.typos)
            ranking = keyword_ranking(connection, self.scope, terms, depth, self.condition)
        dropped = None
        if not ranking:
            known = any(term.ids for term in terms)
            dropped = "no passage that fulfils the filters holds a word of the query" if known else _NO_PASSAGE
        return Leg(
            ranking,
            dropped,
            (),
            (time.perf_counter() - started) * 1000,
            query=" ".join(f"{term.token}^{term.weight:.2f}" for term in terms if term.ids),
            plan=lambda connection: keyword_plan(connection, self.scope, terms, depth, self.condition),
        )


_NO_WORD = "the query has no word to look for beside stop words"
_NO_PASSAGE = "no passage holds a word of the query"
