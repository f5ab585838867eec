"""The history of a document, as far as the ledger keeps it."""

from typing import Final
from urllib.parse import unquote

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.uploads import list_versions
from sourcebook.contract.documents import DocumentHistory, Item
from sourcebook.contract.uploads import Upload
from sourcebook.database.queries import queries

_UPLOADS: Final = "upload://"


def document_history(connection: Connection, document: int) -> DocumentHistory | None:
    """Return the history of a document; None where there is no such document."""
    with connection.cursor(row_factory=class_row(DocumentHistory)) as cursor:
        return cursor.execute(queries["document_history"], {"document": document}).fetchone()


def uploaded_versions(connection: Connection, item: Item) -> list[Upload]:
    """Return the versions of the upload that a document is, the newest first; none where it is no upload."""
    if not item.uri.startswith(_UPLOADS):
        return []
    name = unquote(item.uri.removeprefix(_UPLOADS).partition("/")[2])
    versions = list_versions(connection, item.collection, name)
    return versions if versions and versions[0].uri == item.uri else []  # otherwise it is taken from others' uploads
