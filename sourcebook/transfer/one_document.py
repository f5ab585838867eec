"""One document as an export writes it: Markdown with front matter."""

from pathlib import PurePosixPath

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.redaction.documents import redactor_of
from sourcebook.transfer.documents import facts_of, front_matter, redacted_row
from sourcebook.transfer.file_names import file_name_of


def document_markdown(
    connection: Connection, document: int, *, with_source: bool = True, unredacted: bool = False
) -> tuple[str, str]:
    """Return the name of a file and its text: the document with everything that the ledger knows of it.

    A collection that redacts what leaves it has its text, title and metadata redacted.

    Args:
        connection: to the knowledge base.
        document: id of the document, which may be a removed one.
        with_source: whether its source is named.
        unredacted: whether what its collection redacts is written as it is stored.

    Raises:
        QueryError: it was never parsed.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(queries["export_one_document"], {"document": document}).fetchone()
    if row is None:
        raise QueryError(f"document {document} has no text yet: ingest it first")
    redacting = connection.execute(queries["collection_redactions"], {"collections": [row["collection"]]}).fetchone()
    if redacting is not None and not unredacted:
        row = redacted_row(redactor_of(redacting[1]), row)
    name = PurePosixPath(file_name_of(row["uri"], row["source_location"], ".md")).name
    facts = facts_of(row)
    if not with_source:
        del facts["source"]
    return name, f"{front_matter(facts)}\n{row['markdown']}\n"
