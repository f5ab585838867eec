"""The leg by words: BM25 over the lexemes of every entry in scope, exact whatever index helps to find the best."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.search.condition import EntryCondition
from sourcebook.search.plans import explained
from sourcebook.search.scope import Scope, ScopedGeneration

_LOOK_FURTHER = 4
"""How many times the depth is looked at for entries that fulfil a condition, before all that do are scored."""

Ranking = list[tuple[int, float]]
"""(chunk id, score), best first; equals in the order of their ids."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word that scores."""

    token: str
    entries: int
    """How many entries in scope hold it."""
    ids: Mapping[int, int]
    """Its number in each generation that has it."""
    weight: float
    """What an entry's own weight is multiplied by: its idf, less for a word that stands in for another."""


def idf(entries: int, all_entries: int) -> float:
    """Return how much a word tells (Robertson & Sparck Jones 1976, never negative as in Lucene).

    Args:
        entries: How many entries hold it.
        all_entries: How many there are.
    """
    return math.log(1 + (all_entries - entries + 0.5) / (entries + 0.5))


def query_terms(connection: Connection, scope: Scope, text: str) -> list[Term]:
    """Return the words of a text, under every text-search configuration in scope; those no entry holds have no ids."""
    rows = connection.execute(
        queries["query_words"],
        {"text": text, "generations": scope.ids},
    )
    return [
        Term(token, entries, {int(number): id_ for number, id_ in ids.items()}, idf(entries, all_entries or 0))
        for token, entries, ids, all_entries in rows
    ]


def keyword_ranking(
    connection: Connection, scope: Scope, terms: Sequence[Term], depth: int, condition: EntryCondition | None = None
) -> Ranking:
    """Return the entries that score highest, among those that fulfil the condition."""
    found = [
        pair
        for generation in scope.generations
        for pair in _of_generation(connection, generation, terms, depth, condition)
    ]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:depth]


def _of_generation(
    connection: Connection,
    generation: ScopedGeneration,
    terms: Sequence[Term],
    depth: int,
    condition: EntryCondition | None,
) -> Ranking:
    parameters = _parameters(generation, terms, depth)
    if not parameters["lexemes"]:
        return []
    if condition is None:
        return connection.execute(queries["best_keyword_entries"], parameters).fetchall()
    further = depth * _LOOK_FURTHER
    best = connection.execute(queries["best_keyword_entries"], {**parameters, "depth": further}).fetchall()
    matching = {
        chunk
        for (chunk,) in connection.execute(
            queries["matching_among"].format(condition=condition.text),
            {"generation": generation.id, "chunks": [chunk for chunk, _ in best], **condition.parameters},
        )
    }
    if len(matching) >= depth or len(best) < further:
        return [pair for pair in best if pair[0] in matching][:depth]
    return connection.execute(
        queries["best_matching_keyword_entries"].format(condition=condition.text),
        {**parameters, **condition.parameters},
    ).fetchall()


def keyword_plan(
    connection: Connection, scope: Scope, terms: Sequence[Term], depth: int, condition: EntryCondition | None = None
) -> str:
    """Return PostgreSQL's plans by generation: of the ranking, and of looking for what fulfils a condition."""
    plans = []
    for generation in scope.generations:
        parameters = _parameters(generation, terms, depth)
        plans.append(explained(connection, queries["best_keyword_entries"], parameters))
        if condition is not None:
            statement = queries["matching_among"].format(condition=condition.text)
            looked_for = {"generation": generation.id, "chunks": [0], **condition.parameters}
            plans.append(explained(connection, statement, looked_for))
    return "\n".join(plans)


def _parameters(generation: ScopedGeneration, terms: Sequence[Term], depth: int) -> dict[str, Any]:
    weights = {term.ids[generation.id]: term.weight for term in terms if generation.id in term.ids}
    return {
        "generation": generation.id,
        "query": "{" + ",".join(f"{number}:{weight:.7g}" for number, weight in weights.items()) + "}/1000000000",
        "lexemes": list(weights),
        "idfs": list(weights.values()),
        "depth": depth,
    }
