"""Relevance of the candidates of a page, and whether the search found anything relevant."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from psycopg import Connection

from sourcebook.contract.search import SearchRequest
from sourcebook.database.queries import queries
from sourcebook.search.fusion import Candidate, RankedList
from sourcebook.search.query_syntax import ParsedQuery
from sourcebook.search.relevance import DECIDING, FITTED, RELEVANT_FROM, Background
from sourcebook.search.search_scope import SearchScope


@dataclass(frozen=True, slots=True)
class RelevantPage:
    """A page with the relevance of its candidates."""

    candidates: tuple[Candidate, ...]
    """The candidates that are shown, in their order."""
    explanations: tuple[str, ...]
    """The relevance of every candidate of the page, those not shown included, as a sum of log-odds."""
    nothing_relevant: bool
    """Whether candidates were found and none of the first ones is relevant."""
    withheld: int
    """Number of candidates of the page that are not shown."""


@dataclass(frozen=True, slots=True)
class HeldWords:
    """Words of the query that a passage holds."""

    words: Sequence[str]
    """Their lexemes."""
    document_id: int
    ordinal: int | None = None
    """Number of the passage in its document; None where it was not read."""


def relevant_page(
    connection: Connection,
    scope: SearchScope,
    request: SearchRequest,
    query: ParsedQuery,
    ranked: RankedList,
    page: Sequence[Candidate],
    known: Mapping[int, HeldWords],
) -> RelevantPage:
    """Return the candidates of a page that are relevant enough, each with its relevance.

    The first candidates of the ranked list decide whether anything is relevant, so that all pages say the same. A
    passage of a named file, or one that fulfils a required phrase or title, is what was asked for, whatever its
    relevance.

    Args:
        connection: in autocommit mode.
        scope: the generations that are searched.
        request: the search.
        query: its query.
        ranked: candidates in the order of the fusion.
        page: candidates of the page.
        known: words of the query that some candidates hold, by chunk id.
    """
    deciding = ranked.candidates[:DECIDING]
    judged_once = list({each.chunk_id: each for each in (*deciding, *page)}.values())
    legs = {each.chunk_id: ranked.legs_of(each) for each in judged_once}
    models = scope.by_model()
    different = {id(found): found for found in (ranked.first_legs, *legs.values())}
    made = {number: Background.of(found, models) for number, found in different.items()}
    background = made[id(ranked.first_legs)]
    missing = [each for each in judged_once if each.chunk_id not in known]
    matched = {**known, **matched_words(connection, scope, background.weights, missing)}
    evidence = {
        each.chunk_id: made[id(legs[each.chunk_id])].evidence(
            each, matched[each.chunk_id].words if each.chunk_id in matched else ()
        )
        for each in judged_once
    }
    relevances = {chunk: FITTED.relevance(known) for chunk, known in evidence.items()}
    best = max((relevances[each.chunk_id] for each in deciding), default=1.0)
    is_demanded = bool(query.phrases or query.titles) or ranked.has_named_files
    nothing_relevant = best < RELEVANT_FROM and background.can_refuse and not is_demanded
    if request.min_relevance is not None:
        shown = [each for each in page if relevances[each.chunk_id] >= request.min_relevance]
    else:
        shown = [] if nothing_relevant else list(page)
    return RelevantPage(
        tuple(each._replace(relevance=relevances[each.chunk_id]) for each in shown),
        tuple(FITTED.explain(evidence[each.chunk_id]) for each in page) if request.explain else (),
        nothing_relevant,
        len(page) - len(shown),
    )


def matched_words(
    connection: Connection, scope: SearchScope, tokens: Iterable[str], candidates: Sequence[Candidate]
) -> dict[int, HeldWords]:
    """Return the words of the query that each candidate holds, by chunk id; nothing for a query without words.

    Args:
        connection: in autocommit mode.
        scope: the generations that are searched.
        tokens: lexemes of the query.
        candidates: passages that are looked at.
    """
    known = list(tokens)
    if not known or not candidates:
        return {}
    parameters = {"tokens": known, "generations": scope.ids, "chunks": [each.chunk_id for each in candidates]}
    rows = connection.execute(queries["matched_words"], parameters)
    return {chunk: HeldWords(words, document) for chunk, words, document in rows}
