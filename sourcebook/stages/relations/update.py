"""Relations and types of the documents of a collection: read from their stored parse, resolved by their names.

It reads the marks that the database sets where a document's URI, title, metadata, content or removal changes, and
writes `document_name`, `document_relation` and `document_abbreviation`. Nothing is parsed or embedded. A document that
comes resolves the relations that dangle on its names; one that goes leaves them dangling.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.database.batches import batched
from sourcebook.database.queries import queries
from sourcebook.database.refusals import write_in_halves
from sourcebook.model.abbreviation import Abbreviation
from sourcebook.model.relation import DocumentName, WrittenRelation
from sourcebook.model.report import StageReport
from sourcebook.stages.relations.abbreviations import abbreviations_of
from sourcebook.stages.relations.names import names_of
from sourcebook.stages.relations.rules import RelationRules, relation_rules
from sourcebook.stages.relations.types import type_of
from sourcebook.stages.relations.written import WritingDocument, written_relations

_BATCH: Final = 64
_MOST_ANALYZED: Final = 200
"""Documents of a run above which the tables are analysed."""


def read_relations(connection: Connection, collection: str, document: int) -> None:
    """Read the relations of a document whose metadata were changed by hand, where others were read before.

    Args:
        connection: in the transaction of the change.
        collection: name of the collection.
        document: id of the document.
    """
    rules = relation_rules(connection, collection)
    if rules.is_settled:
        with connection.transaction():
            _read(connection, collection, [document], rules)


def update_relations(
    connection: Connection, collection: str, *, thorough: bool = False, report: StageReport | None = None
) -> int:
    """Read the relations of changed documents, and resolve those that they touch.

    Args:
        connection: in autocommit mode; the caller holds the lock of the collection.
        collection: name of the collection.
        thorough: whether to read every document.
        report: receives the documents whose relations the database refuses.

    Returns:
        Number of documents that were read.

    Raises:
        ConfigurationError: a pattern of the settings is none of RE2.
        MissingDependencyError: there are patterns of one's own, and google-re2 is not installed.
    """
    scope = {"collection": collection}
    rules = relation_rules(connection, collection)
    marks = connection.execute(queries["relation_marks"], scope).fetchall()
    if rules.is_settled and not thorough:
        numbers = sorted({document for _, document in marks})
    else:
        numbers = [row[0] for row in connection.execute(queries["documents_of_collection"], scope)]
    for batch in batched(numbers, _BATCH):
        _, refused = write_in_halves(connection, batch, partial(_read, connection, collection, rules=rules))
        for document, refusal in refused:
            reason = f"its relations cannot be recorded: {refusal.reason}"
            values = {"document": document, "failure": reason, "failure_class": refusal.failure_class}
            row = connection.execute(queries["record_relation_failure"], values).fetchone()
            if row is not None and report is not None:
                report.fail(row[0], reason, refusal.failure_class)
    if rules.is_settled and not marks:
        return len(numbers)
    with connection.transaction():
        if marks:
            connection.execute(queries["forget_relation_marks"], {"marks": [number for number, _ in marks]})
        if not rules.is_settled:
            connection.execute(queries["record_relation_rules"], {**scope, "digest": rules.digest})
    if len(numbers) > _MOST_ANALYZED:
        connection.execute(queries["analyze_relations"])
    return len(numbers)


def _read(connection: Connection, collection: str, documents: Sequence[int], rules: RelationRules) -> None:
    names: list[tuple[int, DocumentName]] = []
    relations: list[tuple[int, WrittenRelation]] = []
    typed: list[tuple[int, str | None, list[str]]] = []
    explained: list[tuple[int, Abbreviation]] = []
    scope: dict[str, Any] = {"collection": collection, "documents": list(documents)}
    with connection.cursor(row_factory=dict_row) as cursor:
        for row in cursor.stream(queries["writing_documents"], scope):  # one text in memory at a time
            own = names_of(row["uri"], row["title"], row["metadata"], _root(row))
            writing = WritingDocument(row["uri"], _root(row), row["metadata"], row["markdown"], row["container"])
            kind, lacking = type_of(row["uri"], _root(row), row["metadata"], rules.types)
            if (kind, lacking or None) != (row["document_type"], row["lacking"]):
                typed.append((row["id"], kind, lacking))
            names += [(row["id"], name) for name in own]
            relations += [(row["id"], relation) for relation in written_relations(writing, own, rules.relations)]
            explained += [(row["id"], pair) for pair in abbreviations_of(row["markdown"])]
        if typed:
            cursor.execute(queries["record_document_types"], _type_columns(typed))
        former = connection.execute(queries["forget_document_names"], scope).fetchall()
        connection.execute(queries["forget_document_relations"], scope)
        connection.execute(queries["forget_document_abbreviations"], scope)
        if names:
            cursor.execute(queries["record_document_names"], _name_columns(collection, names))
        if relations:
            cursor.execute(queries["record_document_relations"], _relation_columns(collection, relations))
        if explained:
            cursor.execute(queries["record_document_abbreviations"], _abbreviation_columns(collection, explained))
        touched = {name for (name,) in former} | {name.name for _, name in names}
        if touched or relations:
            cursor.execute(queries["resolve_relations"], {**scope, "names": list(touched)})


def _root(row: dict[str, Any]) -> str:
    """Return the URI of the folder of a document's source."""
    location = str(row["location"])
    return location if "://" in location else "file://" + quote(location, safe="/~!$&'()*+,;=:@")


def _type_columns(typed: Sequence[tuple[int, str | None, list[str]]]) -> dict[str, Any]:
    return {
        "documents": [document for document, _, _ in typed],
        "types": [kind for _, kind, _ in typed],
        "lacking": ["\n".join(lacking) for _, _, lacking in typed],
    }


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


def _abbreviation_columns(collection: str, explained: Sequence[tuple[int, Abbreviation]]) -> dict[str, Any]:
    return {
        "collection": collection,
        "documents": [document for document, _ in explained],
        "shorts": [pair.short for _, pair in explained],
        "folded": [pair.short.casefold() for _, pair in explained],
        "longs": [pair.long for _, pair in explained],
    }
