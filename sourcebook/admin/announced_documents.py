"""Documents that are known before they are read: of uploads, and of files that somebody names with a title."""

from collections.abc import Sequence

from psycopg import Connection

from sourcebook.admin.titles import given_title
from sourcebook.database.queries import queries
from sourcebook.files.reading import name_as_title
from sourcebook.model.media_types import is_recording, media_type_of_name
from sourcebook.stages.ingest_redaction import collection_redactor


def announce_document(
    connection: Connection,
    collection: str,
    location: str,
    uri: str,
    *,
    tags: Sequence[str] = (),
    title: str | None = None,
) -> int | None:
    """Return the id of the document of a file, which waits for the next ingest where it has not been read.

    Args:
        connection: in a transaction, or in autocommit mode.
        collection: name of the collection.
        location: of the source of the file.
        uri: of the file.
        tags: of the document, beside those of the source.
        title: given by hand in place of the document's own; None leaves the one that was given, "" takes it back.

    Raises:
        QueryError: the title is not allowed.
    """
    media_type = media_type_of_name(uri) or "application/octet-stream"
    redactor = collection_redactor(connection, collection)
    own = name_as_title(uri)
    values = {
        "collection": collection,
        "location": location,
        "uri": uri,
        "kind": "recording" if is_recording(media_type) else "file",
        "media_type": media_type,
        "tags": list(tags),
        "title": own if redactor is None else redactor.redact(own).text,
    }
    row = connection.execute(queries["announce_document"], values).fetchone()
    if row is not None and title is not None:
        given = given_title(connection, collection, title)
        connection.execute(queries["give_title"], {"document": row[0], "title": given})
    return None if row is None else int(row[0])


def withdraw_document(connection: Connection, collection: str, uri: str) -> None:
    """Remove a document that was never read: its file is gone before."""
    connection.execute(queries["withdraw_document"], {"collection": collection, "uri": uri})
