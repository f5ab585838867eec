"""Superseded documents behind those that supersede them."""

from collections.abc import Mapping, Sequence
from typing import Final

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.passages import read_documents
from sourcebook.search.scope import SearchScope

REORDERED: Final = 100
"""Candidates among which superseded documents move: as no page changes it, pages are slices of one list."""
_EVERY: Final = 1 << 62


def behind_successors(connection: Connection, scope: SearchScope, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates with those of a superseded document behind the best one of each document that supersedes it.

    Documents that come to the same place stand in the order of their chain: newest first.

    Args:
        connection: to the knowledge base.
        scope: the generations that are searched.
        candidates: best first.
    """
    first = candidates[:REORDERED]
    documents = read_documents(connection, scope.ids, [candidate.chunk_id for candidate in first])
    successors = _successors(connection, set(documents.values()))
    best: dict[int, int] = {}
    for place, candidate in enumerate(first):
        if (document := documents.get(candidate.chunk_id)) is not None:
            best.setdefault(document, place)
    after = {each: _after(successors, each) for each in set(documents.values())}
    places = []
    for place, candidate in enumerate(first):
        document = documents.get(candidate.chunk_id)
        # A document has more successors than each of them has: they are its own, without that one.
        later = [best[each] for each in _reached(after, document) if each in best]
        places.append((max(place, *later), len(later), place) if later else (place, 0, place))
    return [first[place] for _, _, place in sorted(places)] + list(candidates[REORDERED:])


def _successors(connection: Connection, documents: set[int]) -> dict[int, set[int]]:
    """Return the documents that supersede some of a set, as far as they are in it."""
    found: dict[int, set[int]] = {}
    scope = {"documents": list(documents), "most": _EVERY}
    rows = connection.execute(queries["superseding_documents"], scope)
    for superseded, successor, *_ in rows:
        found.setdefault(superseded, set()).add(successor)
    return found


def _reached(after: Mapping[int, set[int]], document: int | None) -> set[int]:
    """Return the documents that supersede one, and those that supersede these; none of a circle that it is in."""
    found = after.get(document, set()) if document is not None else set()
    return {each for each in found if document not in after.get(each, ())}


def _after(successors: Mapping[int, set[int]], document: int) -> set[int]:
    reached: set[int] = set()
    waiting = list(successors.get(document, ()))
    while waiting:
        following = waiting.pop()
        if following not in reached:
            reached.add(following)
            waiting += successors.get(following, ())
    return reached
