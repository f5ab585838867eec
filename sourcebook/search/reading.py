"""Read what a page shows: the passages of its hits, what stands around them, where their documents' others stand."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, Cursor
from psycopg.rows import dict_row

from sourcebook.database.queries import queries
from sourcebook.search.candidate import Candidate
from sourcebook.search.context import Part, Place, Window, windows
from sourcebook.search.results import OtherPassage, SearchResult

_Row = dict[str, Any]
_OF_THE_INDEX = frozenset({"chunk_id", "generation_id"})
"""What a result does not show: these change whenever the collection is indexed anew."""


@dataclass(frozen=True, slots=True)
class LegPlace:
    """Where a leg put a passage."""

    rank: int
    """Counted from 1."""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a page shows."""

    candidate: Candidate
    vector: LegPlace | None = None
    keyword: LegPlace | None = None
    also: tuple[Candidate, ...] = ()
    """The document's other candidates, where results are grouped by document."""


Places = Mapping[int, LegPlace]
"""What a leg found, by chunk id."""


def hit_of(candidate: Candidate, vector: Places, keyword: Places, also: Sequence[Candidate] = ()) -> Hit:
    """Return the hit of a candidate, with its places in the legs that made its score.

    Args:
        candidate: what is shown.
        vector: what the leg by meaning found when it was asked for `candidate.depth` entries.
        keyword: the same by words.
        also: the document's other candidates, where results are grouped by document.
    """
    return Hit(candidate, vector.get(candidate.chunk_id), keyword.get(candidate.chunk_id), tuple(also))


def read_results(
    connection: Connection, generations: Sequence[int], hits: Sequence[Hit], neighbours: int = 0
) -> tuple[SearchResult, ...]:
    """Return the results of a page, in the order of the hits.

    A passage that was replaced since it was ranked is left out. With neighbours, hits of one document whose
    neighbourhoods touch are one result, in the place of the better one: a page has as many hits as were asked for,
    and may have fewer results.

    Args:
        connection: in autocommit mode.
        generations: ids of those that were searched.
        hits: of one page, best first.
        neighbours: how many passages before and after each hit.
    """
    if not hits:
        return ()
    several = neighbours > 0 or any(hit.also for hit in hits)
    with connection.cursor(row_factory=dict_row) as cursor, _one_moment(connection) if several else nullcontext():
        rows = _by_chunk(cursor, "passages", generations, [hit.candidate.chunk_id for hit in hits])
        hits = [hit for hit in hits if hit.candidate.chunk_id in rows]
        others = [other.chunk_id for hit in hits for other in hit.also]
        places = _by_chunk(cursor, "passage_places", generations, others) if others else {}
        shown = [rows[hit.candidate.chunk_id] for hit in hits]
        if not neighbours:
            return tuple(_result(hit, row, places) for hit, row in zip(hits, shown, strict=True))
        around = windows([Place(row["generation_id"], row["document_id"], row["ordinal"]) for row in shown], neighbours)
        parts = _parts(cursor, around, set(rows))
    return tuple(
        _result(hits[window.hits[0]], shown[window.hits[0]], places, parts.get(number, ()))
        for number, window in enumerate(around, start=1)
    )


@contextmanager
def _one_moment(connection: Connection) -> Iterator[None]:
    """Let several statements read one state of the index: a new version of a document counts its passages anew."""
    with connection.transaction():
        connection.execute(queries["read_one_moment"])
        yield


def _by_chunk(cursor: Cursor[_Row], query: str, generations: Sequence[int], chunks: Sequence[int]) -> dict[int, _Row]:
    cursor.execute(queries[query], {"generations": list(generations), "chunks": list(chunks)})
    return {row["chunk_id"]: row for row in cursor}


def _parts(cursor: Cursor[_Row], around: Sequence[Window], hits: AbstractSet[int]) -> dict[int, tuple[Part, ...]]:
    """Return the parts of each window, windows counted from 1."""
    cursor.execute(
        queries["neighbours"],
        {
            "generations": [window.generation_id for window in around],
            "documents": [window.document_id for window in around],
            "firsts": [window.first for window in around],
            "lasts": [window.last for window in around],
        },
    )
    found: dict[int, list[Part]] = {}
    for row in cursor:
        number = row.pop("number")
        found.setdefault(number, []).append(Part(is_hit=row.pop("chunk_id") in hits, **row))
    return {number: tuple(parts) for number, parts in found.items()}


def _result(hit: Hit, row: _Row, places: Mapping[int, _Row], parts: tuple[Part, ...] = ()) -> SearchResult:
    """Return a result; a document's other passage that has left the index meanwhile is not named."""
    vector, keyword = hit.vector, hit.keyword
    also = ((other, places[other.chunk_id]) for other in hit.also if other.chunk_id in places)
    passage = {name: value for name, value in row.items() if name not in _OF_THE_INDEX}
    return SearchResult(
        **{**passage, "heading_path": tuple(row["heading_path"]), "tags": tuple(row["tags"])},
        score=hit.candidate.score,
        rerank_score=hit.candidate.rerank_score,
        vector_rank=vector.rank if vector else None,
        vector_score=vector.score if vector else None,
        keyword_rank=keyword.rank if keyword else None,
        keyword_score=keyword.score if keyword else None,
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
    )
