"""Documents that a document is related to."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.redacted_documents import redact_titles
from sourcebook.config.relation_kinds import RELATION_KINDS
from sourcebook.contract.relations import RelatedDocument
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.model.relation import DIRECTIONS
from sourcebook.search.versions import known_documents, other_versions

MOST: Final = 1_000
"""Related documents of an answer, at most."""


def related_documents(
    connection: Connection,
    document: int,
    collection: str,
    *,
    kinds: Sequence[str] = (),
    direction: str = "both",
    dangling: bool = False,
    limit: int = 100,
) -> list[RelatedDocument]:
    """Return what a document is related to: superseded and superseding documents first, other versions last."""
    check_options(kinds, direction, limit)
    with connection.cursor(row_factory=class_row(RelatedDocument)) as cursor:
        found = cursor.execute(
            queries["related_documents"],
            {
                "document": document,
                "kinds": list(kinds),
                "direction": direction,
                "dangling": dangling,
                "limit": limit,
            },
        ).fetchall()
    if not kinds and direction == "both" and len(found) < limit:
        known = {each.document_id for each in found if each.kind == "supersedes"}
        versions = [each for each in _versions(connection, document) if each.document_id not in known]
        found += versions[: limit - len(found)]
    named = [(each.collection or collection, each.document_id, each.title) for each in found]
    saying = [each.document_id if each.direction == "in" else document for each in found]
    said = [(collection, number, each.written) for number, each in zip(saying, found, strict=True)]
    titles, written = redact_titles(connection, named), redact_titles(connection, said)
    return [
        replace(each, title=title, written=words or "")
        for each, title, words in zip(found, titles, written, strict=True)
    ]


def _versions(connection: Connection, document: int) -> list[RelatedDocument]:
    """Return the other versions of a document."""
    found = other_versions(connection, known_documents(connection, [document])).get(document, ())
    return [
        RelatedDocument("version", "out", each.label, "name", each.document_id, each.collection, each.uri, each.title)
        for each in found
    ]


def check_options(kinds: Sequence[str], direction: str, limit: object) -> None:
    """Check the options of `related_documents`."""
    for kind in kinds:
        if kind not in RELATION_KINDS:
            raise QueryError(f"there is no kind of relation {kind!r}; there is {', '.join(RELATION_KINDS)}")
    if direction not in DIRECTIONS:
        raise QueryError(f"the direction is {direction!r}; it is one of {', '.join(DIRECTIONS)}")
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MOST:
        raise QueryError(f"the limit is {limit!r}; it must be from 1 to {MOST:,}")
