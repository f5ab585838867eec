"""The tables of the ledger in an export: one Parquet file a table, with the columns that the table has.

The columns are read from the database, so that a new column travels without a change here.
"""

from dataclasses import dataclass
from io import RawIOBase
from typing import Final

import pyarrow as pa
from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.transfer.column_types import JsonText, parquet_type
from sourcebook.transfer.parquet_files import ParquetFile

FOLDER: Final = "ledger"
_OF_THIS_BASE: Final = "audience_id"
"""Column that is not exported: who sees a document follows from its source, by other numbers in each base."""


@dataclass(frozen=True, slots=True)
class LedgerTable:
    """A table of the ledger."""

    name: str
    query: str
    """Name of the query that returns its rows of one collection."""
    rows: int = 2_000
    """Rows that are fetched at once; few where a row may hold a whole document."""
    is_shared: bool = False
    """Whether collections share its rows: an import keeps a row that exists."""
    is_late: bool = False
    """Whether exports of earlier versions lack it."""

    @property
    def path(self) -> str:
        """Path of its file within the folder of the collection."""
        return f"{FOLDER}/{self.name}.parquet"


TABLES: Final = (
    LedgerTable("source", "export_source"),
    LedgerTable("raw_file", "export_raw_file"),
    LedgerTable("source_record", "export_source_record", rows=100, is_late=True),
    LedgerTable("parsed_content", "export_parsed_content", rows=32, is_shared=True),
    LedgerTable("attachment", "export_attachment", is_shared=True),
    LedgerTable("crawled_page", "export_crawled_page", rows=8),
    LedgerTable("frontier", "export_frontier"),
    LedgerTable("recording", "export_recording", is_shared=True),
    LedgerTable("transcript", "export_transcript", is_shared=True),
    LedgerTable("transcript_window", "export_transcript_window", rows=100, is_shared=True),
    LedgerTable("transcribed_file", "export_transcribed_file"),
    LedgerTable("upload_content", "export_upload_content", is_shared=True, is_late=True),
    LedgerTable("upload", "export_upload", is_late=True),
    LedgerTable("item_permission", "export_item_permission", is_late=True),
    LedgerTable("document", "export_document"),
    LedgerTable("indexed_document", "export_indexed_document"),
)
"""The tables in an order in which each row follows those that it refers to."""


def write_table(
    connection: Connection, table: LedgerTable, target: RawIOBase, *, collection: str, generation: int | None
) -> int:
    """Write the rows of a collection in a table to a Parquet file, and return their number.

    Args:
        connection: in a transaction that reads one moment.
        table: the table.
        target: where the file is written.
        collection: the name of the collection.
        generation: the number of its active generation.
    """
    with connection.cursor(f"export_{table.name}", binary=True) as cursor:
        cursor.adapters.register_loader("jsonb", JsonText)
        cursor.itersize = table.rows
        cursor.execute(queries[table.query], {"collection": collection, "generation": generation})
        columns = [(each.name, each.type_code) for each in cursor.description or ()]
        own = next((place for place, (name, _) in enumerate(columns) if name == _OF_THIS_BASE), len(columns))
        del columns[own : own + 1]
        schema = pa.schema([(name, parquet_type(kind, name)) for name, kind in columns])
        file = ParquetFile(target, schema)
        try:
            for row in cursor:
                file.add(row[:own] + row[own + 1 :])
            file.finish()
        finally:
            file.abandon()
    return file.rows
