"""Curation by hand: a document that no search finds, or whose passages stand nearer the first place."""

import re
from typing import Final

from psycopg import Connection

from sourcebook.admin.audit import account, record_event
from sourcebook.admin.items import find_document
from sourcebook.contract.documents import Document
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError, TakenDocumentError

LEAST_BOOST: Final = 0.25
GREATEST_BOOST: Final = 4.0
LONGEST_REASON: Final = 500
"""Characters of a reason, at most."""
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def curate(
    connection: Connection,
    document: str | int,
    collection: str | None = None,
    *,
    boost: float,
    reason: str | None = None,
    actor: str | None = None,
) -> Document:
    """Hide a document from search, boost it, or take that back; return it as it is then. Copies follow it."""
    said = checked_reason(reason, is_needed=check_boost(boost) != 1)
    with connection.transaction():
        found = find_document(connection, document, collection)
        item = found.item
        if item.taken_from is not None:
            raise TakenDocumentError(
                f"{document} is taken from {item.taken_from} and follows it: name -c {item.taken_from}"
            )
        values = {"document": item.document_id, "boost": boost, "reason": said, "actor": actor or account()}
        connection.execute(queries["curate_document"], values)
        details = {"uri": item.uri, "id": item.document_id, "boost": boost, "reason": said}
        record_event(connection, actor or account(), "document.curate", f"collection {item.collection}", details)
        return find_document(connection, item.document_id or 0)


def check_boost(boost: float) -> float:
    """Return a factor that is allowed.

    Raises:
        QueryError: it is not.
    """
    if boost != 0 and not LEAST_BOOST <= boost <= GREATEST_BOOST:  # which NaN fails, too
        raise QueryError(
            f"boost is 0, which hides the document, or a factor from {LEAST_BOOST:g} to {GREATEST_BOOST:g}"
        )
    return boost


def checked_reason(reason: str | None, *, is_needed: bool) -> str | None:
    """Return a reason without spaces around it.

    Raises:
        QueryError: there is none where one is needed, or it is no line of text.
    """
    said = (reason or "").strip()
    if is_needed and not said:
        raise QueryError("reason: say why, for those who find the document hidden or boosted")
    if len(said) > LONGEST_REASON or _CONTROL.search(said):
        raise QueryError(f"reason: one line of at most {LONGEST_REASON} characters")
    return said or None
