"""Folding of duplicates: passages with one text in several documents take one place, the best one's."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.passages import Row

LEAST_TOKENS: Final = 16
"""Tokens of a passage from which its text alone says that another one is a duplicate. A shorter one (`Yes.`, `See
above.`) says something else in another document, unless that is a copy of the whole file."""
BLOCK: Final = 25
"""Candidates whose identities are read at once. Those of the first block are compared without regard to case, white
space and signs, where they begin alike."""
HEAD: Final = 60
"""Characters of the beginning of a text."""
_SIGNS: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Identity:
    """By what a passage is known to be the duplicate of another one."""

    document: int
    keys: tuple[Hashable, ...]
    """Duplicates have one in common."""
    content: bytes | None
    """Hash of the bytes of its document."""


_Row = tuple[int, int, int | None, str, int, bytes | None]
"""Ids of a chunk and its document, hash and beginning of its text, place, hash of the document's bytes."""
_COLUMNS: Final = ("chunk_id", "document_id", "text_hash", "head", "ordinal", "content_sha256")


def read_identities(connection: Connection, generations: Sequence[int], chunks: Sequence[int]) -> dict[int, Identity]:
    """Return the identity of each published chunk by its id.

    Args:
        connection: in autocommit mode.
        generations: ids of the generations that are searched.
        chunks: ids of candidates behind the first block.
    """
    parameters = {"generations": list(generations), "chunks": list(chunks), "least": LEAST_TOKENS, "head": HEAD}
    return _identities(connection.execute(queries["candidate_identities"], parameters).fetchall(), {})


def first_identities(
    connection: Connection, generations: Sequence[int], passages: Mapping[int, Row]
) -> dict[int, Identity]:
    """Return the identity of each passage of the first block, by its row of `first_passages`, by chunk id."""
    rows = [tuple(passages[chunk][name] for name in _COLUMNS) for chunk in passages]
    return _identities(rows, _letters_of_alike(connection, generations, rows))


def _identities(rows: Iterable[_Row], letters: Mapping[int, str]) -> dict[int, Identity]:
    found = {}
    for chunk, document, exact, _, ordinal, content in rows:
        keys = ((content, ordinal) if content is not None else None, exact, letters.get(chunk))
        found[chunk] = Identity(document, tuple(key for key in keys if key is not None), content)
    return found


def _letters_of_alike(connection: Connection, generations: Sequence[int], rows: Sequence[_Row]) -> dict[int, str]:
    """Return the letters and digits of the passages that begin alike in several documents, and are not equal."""
    alike: dict[str, list[tuple[int, int, int | None]]] = {}
    for chunk, document, exact, head, _, _ in rows:
        if exact is not None:
            alike.setdefault(_SIGNS.sub("", head.casefold())[: HEAD // 2], []).append((chunk, document, exact))
    unsure = [
        chunk
        for listed in alike.values()
        if len({exact for _, _, exact in listed}) > 1 and len({document for _, document, _ in listed}) > 1
        for chunk, _, _ in listed
    ]
    if not unsure:
        return {}
    parameters = {"generations": list(generations), "chunks": unsure}
    texts = connection.execute(queries["passages_to_rerank"], parameters)
    return {chunk: _SIGNS.sub("", text.casefold()) for chunk, _, text in texts}


def fold(
    candidates: Iterable[Candidate], identities: Mapping[int, Identity], *, by_document: bool = False
) -> list[Candidate]:
    """Return the candidates without duplicates of better ones, which have these in `copies`.

    Passages of one document are never duplicates of each other. As later candidates change nothing before them, pages
    are slices of one list; `copies` has those of the same or a smaller depth.

    Args:
        candidates: best first.
        identities: by chunk id; a candidate without one has left the index, and stays.
        by_document: whether all passages of a copied file are duplicates of the first file's best one.
    """
    kept: list[Candidate] = []
    copies: dict[int, list[Candidate]] = {}
    documents: dict[int, set[int]] = {}
    places: dict[Hashable, list[int]] = {}
    owners: dict[bytes, int] = {}
    for candidate in candidates:
        own = identities.get(candidate.chunk_id)
        if own is None:
            kept.append(candidate)
            continue
        place = _place(own, places, documents)
        if place is None and by_document and own.content is not None:
            owner = owners.setdefault(own.content, len(kept))
            place = owner if owner < len(kept) and own.document not in documents[owner] else None
        if place is None:
            for key in own.keys:
                places.setdefault(key, []).append(len(kept))
            documents[len(kept)] = {own.document}
            kept.append(candidate)
            continue
        if own.document not in documents[place]:
            documents[place].add(own.document)
            if candidate.depth <= kept[place].depth:
                copies.setdefault(place, []).append(candidate)
    for place, others in copies.items():
        kept[place] = kept[place]._replace(copies=tuple(others))
    return kept


def _place(own: Identity, places: Mapping[Hashable, Sequence[int]], documents: Mapping[int, set[int]]) -> int | None:
    """Return the place of the first candidate that a passage repeats; None where it repeats none."""
    found = (place for key in own.keys for place in places.get(key, ()) if own.document not in documents[place])
    return min(found, default=None)
