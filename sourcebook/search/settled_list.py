"""First candidates of a search, those of one document in the order of `place_order`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from psycopg import Connection

from sourcebook.model.passage_part import parts_of
from sourcebook.search.fusion import Candidate
from sourcebook.search.highlights import Highlight, find_highlights
from sourcebook.search.ordering import read_documents
from sourcebook.search.place_order import PlacedPassage, Query, places_in_order
from sourcebook.search.query_terms import QueryTerm
from sourcebook.search.read_results import read_passages
from sourcebook.search.search_scope import SearchScope

FIRST: Final = 10
"""Candidates among which passages of one document change places, whatever page is asked for."""


@dataclass(frozen=True, slots=True)
class SettledList:
    """Candidates in their order, and what was read of them."""

    candidates: list[Candidate]
    passages: Mapping[int, dict[str, Any]] = field(default_factory=dict)
    """Rows of passages by chunk id."""
    highlights: Mapping[int, list[Highlight]] = field(default_factory=dict)
    """Highlights of their texts by chunk id."""


def settle_places(
    connection: Connection,
    scope: SearchScope,
    text: str,
    terms: Sequence[QueryTerm],
    candidates: list[Candidate],
    shown: Sequence[Candidate],
) -> SettledList:
    """Return the candidates; among the first ones, those of one document by how far they say the query word for word.

    Every document keeps the places that it has in the list, so that no measure by document changes.

    Args:
        connection: in autocommit mode.
        scope: the generations that are searched.
        text: the query without operators.
        terms: its terms.
        candidates: best first.
        shown: those of the first candidates that are read in any case, whose rows and highlights are then read once.
    """
    first = candidates[:FIRST]
    documents = read_documents(connection, scope.ids, [each.chunk_id for each in first])
    several = [each.chunk_id for each in first if list(documents.values()).count(documents.get(each.chunk_id, 0)) > 1]
    if not several:
        return SettledList(candidates)
    rows = read_passages(connection, scope.ids, list({*several, *(each.chunk_id for each in shown)}))
    asked, *marked = find_highlights(connection, scope, terms, [text, *(row["text"] for row in rows.values())])
    highlights = dict(zip(rows, marked, strict=True))
    compared = [place for place, each in enumerate(first) if each.chunk_id in several and each.chunk_id in rows]
    passages = [_placed(rows[first[place].chunk_id], highlights) for place in compared]
    settled = list(candidates)
    order = places_in_order(Query.of(text, asked), passages)
    for place, better in zip(compared, (compared[number] for number in order), strict=True):
        settled[place] = candidates[better]
    return SettledList(settled, rows, highlights)


def _placed(row: Mapping[str, Any], highlights: Mapping[int, list[Highlight]]) -> PlacedPassage:
    sections = parts_of(row["sections"] or ())
    return PlacedPassage(
        row["document_id"], row["text"], tuple(row["heading_path"]), sections, highlights[row["chunk_id"]]
    )
