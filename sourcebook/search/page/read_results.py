"""Reading of a page: the passages of its candidates, their neighbours, the places of other passages."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, nullcontext
from typing import Final

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.contract.other_documents import OtherCopy, OtherPassage
from sourcebook.contract.search_results import SearchResult
from sourcebook.contract.windows import Part
from sourcebook.database.queries import queries
from sourcebook.model.passage_part import parts_of
from sourcebook.search.page.windows import Place, Window, windows
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.passages import Row, read_rows

MOST_COPIES: Final = 20
"""Documents of `SearchResult.also_in`, at most."""
_INDEX_COLUMNS = frozenset({"chunk_id", "generation_id", "held_words", "text_hash", "head", "content_sha256"})
"""Columns that a result leaves out: they change whenever the collection is indexed again, or belong to the query."""


def read_results(
    connection: Connection,
    generations: Sequence[int],
    candidates: Sequence[Candidate],
    neighbours: int = 0,
    known: Mapping[int, Row] | None = None,
) -> tuple[SearchResult, ...]:
    """Return the results of a page, in the order of the candidates.

    A passage that was replaced since it was ranked is left out. With neighbours, candidates of one document whose
    neighbourhoods touch are one result, in the place of the better one: a page has as many candidates as were asked
    for, and may have fewer results.

    Args:
        connection: in autocommit mode.
        generations: ids of the generations that were searched.
        candidates: of one page, best first.
        neighbours: number of passages before and after each candidate.
        known: rows that were read a moment before; used where every statement need not see one snapshot.
    """
    if not candidates:
        return ()
    several = neighbours > 0 or any(candidate.also for candidate in candidates)
    with _one_snapshot(connection) if several else nullcontext():
        rows = {} if several else dict(known or {})
        missing = [candidate.chunk_id for candidate in candidates if candidate.chunk_id not in rows]
        rows |= read_rows(connection, "passages", generations, missing) if missing else {}
        candidates = [candidate for candidate in candidates if candidate.chunk_id in rows]
        others = [other.chunk_id for candidate in candidates for other in candidate.also]
        places = read_rows(connection, "passage_places", generations, others) if others else {}
        copied = [copy.chunk_id for candidate in candidates for copy in candidate.copies[:MOST_COPIES]]
        places |= read_rows(connection, "copy_places", generations, copied) if copied else {}
        shown = [rows[candidate.chunk_id] for candidate in candidates]
        if not neighbours:
            return tuple(_result(candidate, row, places) for candidate, row in zip(candidates, shown, strict=True))
        around = windows([Place(row["generation_id"], row["document_id"], row["ordinal"]) for row in shown], neighbours)
        parts = _parts(connection, around, set(rows))
    return tuple(
        _result(candidates[window.hits[0]], shown[window.hits[0]], places, parts.get(number, ()))
        for number, window in enumerate(around, start=1)
    )


@contextmanager
def _one_snapshot(connection: Connection) -> Iterator[None]:
    """Let several statements read one state of the index: a new version of a document numbers its passages again."""
    with connection.transaction():
        connection.execute(queries["read_one_snapshot"])
        yield


def _parts(connection: Connection, around: Sequence[Window], hits: AbstractSet[int]) -> dict[int, tuple[Part, ...]]:
    """Return the parts of each window by its number, counted from 1."""
    wanted = {
        "generations": [window.generation_id for window in around],
        "documents": [window.document_id for window in around],
        "firsts": [window.first for window in around],
        "lasts": [window.last for window in around],
    }
    found: dict[int, list[Part]] = {}
    with connection.cursor(row_factory=dict_row) as cursor:
        for row in cursor.execute(queries["neighbours"], wanted):
            number = row.pop("number")
            found.setdefault(number, []).append(Part(is_hit=row.pop("chunk_id") in hits, **row))
    return {number: tuple(parts) for number, parts in found.items()}


def _result(candidate: Candidate, row: Row, places: Mapping[int, Row], parts: tuple[Part, ...] = ()) -> SearchResult:
    """Return the result of a candidate; another passage of its document that has left the index is not named."""
    also = ((other, places[other.chunk_id]) for other in candidate.also if other.chunk_id in places)
    copies = [places[copy.chunk_id] for copy in candidate.copies[:MOST_COPIES] if copy.chunk_id in places]
    passage = {name: value for name, value in row.items() if name not in _INDEX_COLUMNS}
    return SearchResult(
        **{
            **passage,
            "heading_path": tuple(row["heading_path"]),
            "tags": tuple(row["tags"]),
            "sections": parts_of(row["sections"] or ()),
        },
        generation=row["generation_id"],
        score=candidate.score,
        relevance=candidate.relevance,
        rerank_score=candidate.rerank_score,
        vector_rank=candidate.vector_rank,
        vector_score=candidate.vector_score,
        keyword_rank=candidate.keyword_rank,
        keyword_score=candidate.keyword_score,
        parts=parts,
        also=tuple(
            OtherPassage(
                place["ordinal"],
                other.score,
                place["page"],
                place["anchor"],
                place["start_seconds"],
                place["end_seconds"],
                other.rerank_score,
            )
            for other, place in also
        ),
        also_in=tuple(
            OtherCopy(**{name: value for name, value in each.items() if name != "chunk_id"}) for each in copies
        ),
        copies=len(candidate.copies),
    )
