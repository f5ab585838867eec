"""One result a document, where a reader wants documents and not passages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.search.candidate import Candidate


@dataclass(frozen=True, slots=True)
class DocumentGroup:
    """A document's candidates."""

    document_id: int
    best: Candidate
    """What leads: the first of them in the ranking."""
    also: tuple[Candidate, ...]
    """The others, best first."""


def group_by_document(ranking: Sequence[Candidate], documents: Mapping[int, int]) -> list[DocumentGroup]:
    """Return a group for each document, in the order of their best passages.

    A group has the candidates that were found at the depth of its best one or before: a deeper search, which a later
    page may need, changes no group of an earlier page.

    Args:
        ranking: best first.
        documents: document id by chunk id; a candidate that has none has left the index, and is left out.
    """
    groups: dict[int, list[Candidate]] = {}
    for candidate in ranking:
        document = documents.get(candidate.chunk_id)
        if document is not None:
            groups.setdefault(document, []).append(candidate)
    return [
        DocumentGroup(document, best, tuple(other for other in others if other.depth <= best.depth))
        for document, (best, *others) in groups.items()
    ]


def read_documents(connection: Connection, generations: Sequence[int], chunks: Sequence[int]) -> dict[int, int]:
    """Return the document id of each chunk that is published in one of the generations."""
    parameters = {"generations": list(generations), "chunks": list(chunks)}
    return dict(connection.execute(queries["candidate_documents"], parameters).fetchall())
