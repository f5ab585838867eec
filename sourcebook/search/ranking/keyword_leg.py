"""Keyword search: exact BM25 over the lexemes of every entry in scope."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.search.query_terms import Expansion, QueryTerm, query_terms, with_expansions, with_stand_ins
from sourcebook.search.ranking.leg import LegRanking, LegResult, best_with_seen, read_plan
from sourcebook.search.ranking.suggestion import suggested_query
from sourcebook.search.scope import EntryCondition, ScopedGeneration, SearchScope

_LOOK_FURTHER = 4
"""Multiple of the depth at which the best entries are tested for a condition before every fulfilling one is scored."""


@dataclass(frozen=True, slots=True)
class KeywordLeg:
    """Keyword search for one query."""

    scope: SearchScope
    text: str
    condition: EntryCondition | None
    typos: bool = False
    """Whether the nearest known words stand in for a word that no entry holds."""
    expansions: Sequence[Expansion] = ()
    """Words that are searched beside those of the query."""
    suggests: bool = False
    """Whether a query is suggested; here it costs no time while the other leg embeds the query."""

    def find(self, connection: Connection, depth: int) -> LegResult:
        """Return the entries with the highest BM25 scores."""
        if not self.scope.configurations:
            return LegResult(dropped="there is no passage")
        if not self.text:
            return LegResult(dropped="the query says only what must not be found")
        started = time.perf_counter()
        terms = query_terms(connection, self.scope, self.text)
        if self.expansions:
            terms = with_expansions(connection, self.scope, terms, self.expansions)
        if not terms:
            return LegResult(dropped="the query has no word to look for beside stop words")
        terms = with_stand_ins(connection, self.scope, terms, typos=self.typos)
        ranking = keyword_ranking(connection, self.scope, terms, depth, self.condition)
        dropped = None
        if not ranking and any(term.ids for term in terms):
            dropped = "no passage that fulfils the filters holds a word of the query"
        elif not ranking:
            dropped = "no passage holds a word of the query"
        milliseconds = (time.perf_counter() - started) * 1000
        suggestion = suggested_query(connection, self.scope, self.text, terms) if self.suggests else None
        return LegResult(
            ranking,
            dropped,
            (),
            milliseconds,
            query=" ".join(f"{term.token}^{term.weight:.2f}" for term in terms if term.ids),
            plan=lambda connection: keyword_plan(connection, self.scope, terms, depth, self.condition),
            terms=tuple(terms),
            suggestion=suggestion,
        )


def keyword_ranking(
    connection: Connection,
    scope: SearchScope,
    terms: Sequence[QueryTerm],
    depth: int,
    condition: EntryCondition | None = None,
) -> LegRanking:
    """Return the entries with the highest BM25 scores among those that fulfil a condition.

    Args:
        connection: in autocommit mode.
        scope: the generations that are searched.
        terms: from `query_terms`, with or without stand-ins.
        depth: the most entries to return.
        condition: on an entry's generation_id, chunk_id, document_id and lexemes.
    """
    found = [
        pair
        for generation in scope.generations
        for pair in _best_of_generation(connection, generation, terms, depth, condition)
    ]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:depth]


def keyword_plan(
    connection: Connection,
    scope: SearchScope,
    terms: Sequence[QueryTerm],
    depth: int,
    condition: EntryCondition | None = None,
) -> str:
    """Return PostgreSQL's plans by generation: of the ranking, with the test of a condition."""
    plans = []
    for generation in scope.generations:
        parameters = _parameters(generation, terms, depth)
        statement: sql.Composable = queries["best_keyword_entries"]
        if condition is not None and condition.counts is not None:
            parameters |= {"counts": condition.counts}
        elif condition is not None:
            statement, parameters = _tested(condition), {**parameters, **condition.parameters, "wanted": depth}
        plans.append(read_plan(connection, statement, parameters))
    return "\n".join(plans)


def _best_of_generation(
    connection: Connection,
    generation: ScopedGeneration,
    terms: Sequence[QueryTerm],
    depth: int,
    condition: EntryCondition | None,
) -> LegRanking:
    parameters = _parameters(generation, terms, depth)
    if not parameters["lexemes"]:
        return []
    if condition is None:
        return connection.execute(queries["best_keyword_entries"], parameters).fetchall()
    if condition.counts is not None:
        further = next(_further(generation, depth, condition), None)
        if further is None:
            return _best_matching(connection, parameters, condition)
        seen = {**parameters, "counts": condition.counts, "further": further}
        return connection.execute(queries["best_keyword_entries"], seen).fetchall()
    for further in _further(generation, depth, condition):
        asked = {**parameters, **condition.parameters, "depth": further, "wanted": depth}
        best = connection.execute(_tested(condition), asked).fetchall()
        if len(best) == depth or (best and best[0][2] < further):
            return [(chunk, score) for chunk, score, _ in best]
    return _best_matching(connection, parameters, condition)


def _best_matching(connection: Connection, parameters: Mapping[str, Any], condition: EntryCondition) -> LegRanking:
    """Return the best of all entries that fulfil a condition."""
    statement = queries["best_matching_keyword_entries"].format(condition=condition.text)
    return connection.execute(statement, {**parameters, **condition.parameters}).fetchall()


def _tested(condition: EntryCondition) -> sql.Composed:
    """Return the statement that finds the best entries and tests them for a condition."""
    return queries["matching_of_best"].format(best=queries["best_keyword_entries"], condition=condition.text)


def _further(generation: ScopedGeneration, depth: int, condition: EntryCondition) -> Iterator[int]:
    """Yield how many of the best entries are tested for a condition, before every one that fulfils it is scored.

    The share that a reader sees is known: where testing is as much work as scoring what is seen, nothing is tested.
    """
    if not (condition.is_sight and generation.entries):
        yield depth * _LOOK_FURTHER
        return
    further = best_with_seen(depth, min(generation.entries / max(generation.stored, 1), 1.0))
    if 2 * further < generation.entries:
        yield further
        yield further * _LOOK_FURTHER


def _parameters(generation: ScopedGeneration, terms: Sequence[QueryTerm], depth: int) -> dict[str, Any]:
    weights = {term.ids[generation.id]: term.weight for term in terms if generation.id in term.ids}
    return {
        "generation": generation.id,
        "query": "{" + ",".join(f"{number}:{weight:.7g}" for number, weight in weights.items()) + "}/1000000000",
        "lexemes": list(weights),
        "idfs": list(weights.values()),
        "depth": depth,
        "further": None,
        "counts": None,
    }
