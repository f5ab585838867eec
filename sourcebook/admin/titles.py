"""Titles that are given to documents by hand."""

import re
from typing import Final

from psycopg import Connection

from sourcebook.errors import QueryError
from sourcebook.stages.ingest_redaction import collection_redactor

LONGEST_TITLE: Final = 1_000
"""Characters of a title, at most."""
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def given_title(connection: Connection, collection: str, title: str) -> str | None:
    """Return a title as it is kept, without what its collection redacts as it is stored; None for an empty one.

    Raises:
        QueryError: it is too long, or has more than one line.
    """
    text = title.strip()
    if len(text) > LONGEST_TITLE or _CONTROL.search(text):
        raise QueryError(f"a title has at most {LONGEST_TITLE:,} characters on one line")
    redactor = collection_redactor(connection, collection) if text else None
    return (text if redactor is None else redactor.redact(text).text) or None
