"""Relations of the documents of a collection: read from their stored parse, and resolved by their names.

It reads the marks that the database sets where a document's URI, title, metadata, content or removal changes, and
writes `document_name` and `document_relation`. Nothing is parsed or embedded. A document that comes resolves the
relations that dangle on its names; one that goes leaves them dangling.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.config.relations import RelationSettings
from sourcebook.database.batches import batched
from sourcebook.database.queries import queries
from sourcebook.model.relation import DocumentName, WrittenRelation
from sourcebook.stages.relations.names import names_of
from sourcebook.stages.relations.written import WritingDocument, written_relations

REVISION: Final = 1
"""Number to be counted up when a change of this code changes what is read from a document."""
_BATCH: Final = 64
_MOST_ANALYZED: Final = 200
"""Documents of a run above which the tables are analysed."""


def relation_rules(connection: Connection, collection: str) -> tuple[RelationSettings, str, bool]:
    """Return the settings of a collection's relations, their digest, and whether all documents were read by them."""
    row = connection.execute(queries["relation_settings"], {"collection": collection}).fetchone()
    settings = RelationSettings.model_validate(row[0]) if row and row[0] else RelationSettings()
    digest = hashlib.sha256(f"{REVISION} {settings.model_dump_json()}".encode()).hexdigest()
    return settings, digest, row is not None and row[1] == digest


def count_unrelated_documents(connection: Connection, collection: str) -> int:
    """Return the number of documents whose relations were read by other rules than those of the settings."""
    _, _, is_settled = relation_rules(connection, collection)
    if is_settled:
        return 0
    row = connection.execute(queries["unrelated_documents"], {"collection": collection}).fetchone()
    return int(row[0]) if row else 0


def read_relations(connection: Connection, collection: str, document: int) -> None:
    """Read the relations of a document whose metadata were changed by hand, where others were read before.

    Args:
        connection: in the transaction of the change.
        collection: name of the collection.
        document: id of the document.
    """
    settings, _, is_settled = relation_rules(connection, collection)
    if is_settled:
        _read(connection, collection, [document], settings)


def update_relations(connection: Connection, collection: str, *, thorough: bool = False) -> int:
    """Read the relations of changed documents, and resolve those that they touch.

    Args:
        connection: in autocommit mode; the caller holds the lock of the collection.
        collection: name of the collection.
        thorough: whether to read every document.

    Returns:
        Number of documents that were read.

    Raises:
        ConfigurationError: a pattern of the settings is none of RE2.
        MissingDependencyError: there are patterns of one's own, and google-re2 is not installed.
    """
    scope = {"collection": collection}
    settings, digest, is_settled = relation_rules(connection, collection)
    marks = connection.execute(queries["relation_marks"], scope).fetchall()
    if is_settled and not thorough:
        numbers = sorted({document for _, document in marks})
    else:
        numbers = [row[0] for row in connection.execute(queries["documents_of_collection"], scope)]
    for batch in batched(numbers, _BATCH):
        _read(connection, collection, batch, settings)
    with connection.transaction():
        if marks:
            connection.execute(queries["forget_relation_marks"], {"marks": [number for number, _ in marks]})
        if not is_settled:
            connection.execute(queries["record_relation_rules"], {**scope, "digest": digest})
    if len(numbers) > _MOST_ANALYZED:
        connection.execute(queries["analyze_relations"])
    return len(numbers)


def _read(connection: Connection, collection: str, documents: Sequence[int], settings: RelationSettings) -> None:
    names: list[tuple[int, DocumentName]] = []
    relations: list[tuple[int, WrittenRelation]] = []
    scope: dict[str, Any] = {"collection": collection, "documents": list(documents)}
    with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
        for row in cursor.execute(queries["writing_documents"], scope):
            own = names_of(row["uri"], row["title"], row["metadata"])
            writing = WritingDocument(row["uri"], _root(row), row["metadata"], row["markdown"], row["container"])
            names += [(row["id"], name) for name in own]
            relations += [(row["id"], relation) for relation in written_relations(writing, own, settings)]
        former = connection.execute(queries["forget_document_names"], scope).fetchall()
        connection.execute(queries["forget_document_relations"], scope)
        if names:
            cursor.execute(queries["record_document_names"], _name_columns(collection, names))
        if relations:
            cursor.execute(queries["record_document_relations"], _relation_columns(collection, relations))
        touched = {name for (name,) in former} | {name.name for _, name in names}
        if touched or relations:
            cursor.execute(queries["resolve_relations"], {**scope, "names": list(touched)})


def _root(row: dict[str, Any]) -> str:
    """Return the URI of the folder of a document's source."""
    location = str(row["location"])
    return location if "://" in location else "file://" + quote(location, safe="/~!$&'()*+,;=:@")


def _name_columns(collection: str, names: Sequence[tuple[int, DocumentName]]) -> dict[str, Any]:
    return {
        "collection": collection,
        "documents": [document for document, _ in names],
        "names": [name.name for _, name in names],
        "ranks": [name.rank for _, name in names],
        "exact": [name.exact for _, name in names],
    }


def _relation_columns(collection: str, relations: Sequence[tuple[int, WrittenRelation]]) -> dict[str, Any]:
    return {
        "collection": collection,
        "documents": [document for document, _ in relations],
        "kinds": [relation.kind for _, relation in relations],
        "inverse": [relation.is_inverse for _, relation in relations],
        "targets": [relation.target for _, relation in relations],
        "exact": [relation.exact for _, relation in relations],
        "written": [relation.written for _, relation in relations],
        "origins": [relation.origin for _, relation in relations],
    }
