"""Documents by the end of their URI, such as `leave.md` or `policies/leave.md`."""

import os
from urllib.parse import unquote

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.errors import AmbiguousDocumentError

_MOST_CANDIDATES = 10


def uri_by_tail(
    connection: Connection, tail: str, collection: str | None = None, *, removed: bool = False
) -> str | None:
    """Return the URI of the one document whose URI ends with whole parts of a path; None where there is none.

    Args:
        connection: to the knowledge base.
        tail: the end of a path, with or without an anchor; a text that begins with `.`, `~` or `/` is a path.
        collection: only documents of this collection.
        removed: whether removed documents are meant, and no others.

    Raises:
        AmbiguousDocumentError: several documents end so; the message lists them.
    """
    if not tail or tail[0] in "./~" or "://" in tail:
        return None
    from sourcebook.files.listing import file_uri  # needs more packages than a search

    for text in dict.fromkeys((tail, tail.partition("#")[0])):
        quoted = file_uri(f"/{text}").removeprefix("file://")
        ends = list(dict.fromkeys((quoted, f"/{text}")))
        scope = {"ends": ends, "collection": collection, "removed": removed}
        uris = [uri for (uri,) in connection.execute(queries["uris_by_tail"], scope)]
        if len(uris) == 1:
            found: str = uris[0]
            return found
        if uris:
            shown = "".join(f"\n  {_path(uri)}" for uri in uris[:_MOST_CANDIDATES])
            more = f"\n  and {len(uris) - _MOST_CANDIDATES:,} more" if len(uris) > _MOST_CANDIDATES else ""
            raise AmbiguousDocumentError(
                f"{tail} is the end of several documents' paths; name more of one:{shown}{more}"
            )
    return None


def _path(uri: str) -> str:
    """Return a URI as a person would type it: a local file as its path, relative where it is below this folder."""
    if not uri.startswith("file://"):
        return uri
    path, here = unquote(uri.removeprefix("file://")), os.getcwd() + os.sep  # noqa: PTH109 - it is compared as text
    return path.removeprefix(here)
