"""The sample of a collection that candidates are built over, and its copy in the scratch database."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256

from psycopg import Connection, sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from sourcebook.database.batches import batched
from sourcebook.database.queries import queries
from sourcebook.evaluation.bakeoff.made_questions import MadeQuestion, without_questions
from sourcebook.model.document import ParsedDocument, block_rows
from sourcebook.stages.chunks import parsed_document

_READ = {
    "source": "sampled_source",
    "parsed_content": "sampled_parsed_content",
    "document": "sampled_document",
    "provider_model": "sampled_provider_model",
}
"""Queries by the tables that are copied, in an order in which each row follows those that it refers to."""
_AT_ONCE = 200
"""Documents that are read or copied at once."""


def choose_documents(
    connection: Connection, collection: str, size: int, needed: Collection[int]
) -> tuple[list[int], int]:
    """Return the ids of the sampled documents, and the number of documents that have a text.

    Needed documents come first; the others follow in an order by the digest of their URIs, so that a sample is the same
    each time, and a smaller one is a part of a larger one.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        size: the most documents; all needed ones are taken.
        needed: ids of documents that answer judged questions.
    """
    rows = connection.execute(queries["documents_with_content"], {"collection": collection}).fetchall()
    ordered = sorted(rows, key=lambda row: (row[0] not in needed, sha256(row[1].encode()).digest()))
    least = sum(row[0] in needed for row in rows)
    return [number for number, _ in ordered[: max(size, least)]], len(rows)


def read_documents(connection: Connection, documents: Sequence[int]) -> Iterator[tuple[int, ParsedDocument]]:
    """Yield the ids of documents with their contents."""
    for batch in batched(documents, _AT_ONCE):
        with connection.cursor(row_factory=dict_row) as cursor:
            for content in cursor.execute(queries["contents_to_cut"], {"documents": list(batch)}):
                yield content["document_id"], parsed_document(content)


def copy_documents(source: Connection, target: Connection, collection: str, documents: Sequence[int]) -> None:
    """Copy documents with what they refer to into an empty database of the same schema, with their ids."""
    scope = {"collection": collection, "documents": list(documents)}
    _copy(source, target, queries["sampled_collections"], queries["copy_collections"], scope)
    for table, query in _READ.items():
        columns = sql.SQL(", ").join(
            sql.Identifier(name) for name, _ in source.execute(queries["importable_columns"], {"table": table})
        )
        read = queries[query].format(columns=columns)
        write = queries["copy_rows"].format(table=sql.Identifier(table), columns=columns)
        _copy(source, target, read, write, scope)


def take_questions_out(connection: Connection, questions: Sequence[MadeQuestion]) -> None:
    """Take made questions out of their documents in the scratch database."""
    by_document: dict[int, list[MadeQuestion]] = {}
    for question in questions:
        by_document.setdefault(question.document, []).append(question)
    for number, document in read_documents(connection, [*by_document]):
        left = without_questions(document, by_document[number])
        values = {"document": number, "markdown": left.markdown, "blocks": Jsonb(block_rows(left.blocks))}
        values |= {"title": left.title, "is_untitled": left.title != document.title}
        connection.execute(queries["replace_content"], values)


def _copy(
    source: Connection,
    target: Connection,
    read: sql.SQL | sql.Composed,
    write: sql.SQL | sql.Composed,
    scope: Mapping[str, object],
) -> None:
    with source.cursor().copy(read, scope) as rows, target.cursor().copy(write) as copy:
        for data in rows:
            copy.write(data)
