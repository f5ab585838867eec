"""Cursors: the place in a list of documents at which the next page begins."""

import base64
import json
from typing import Final

from sourcebook.errors import QueryError

LONGEST_CURSOR: Final = 12_000
"""Characters of a cursor, at most."""


def cursor_of(collection: str, uri: str) -> str:
    """Return the cursor of the page after a document."""
    return base64.urlsafe_b64encode(json.dumps([collection, uri]).encode()).decode().rstrip("=")


def place_of(cursor: str) -> tuple[str, str]:
    """Return the collection and the URI that a cursor stands for.

    Raises:
        QueryError: it is no cursor.
    """
    try:
        collection, uri = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, RecursionError):
        collection = uri = None
    if not isinstance(collection, str) or not isinstance(uri, str) or "\0" in uri:
        raise QueryError("the cursor is none: use the next_cursor of the page before")
    return collection, uri.encode("utf-8", "replace").decode()
