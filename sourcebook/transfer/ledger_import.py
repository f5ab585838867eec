"""Rows of an export in the tables of the ledger, with new numbers."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from psycopg import Connection, sql
from psycopg.types.json import Jsonb

from sourcebook.database.queries import queries
from sourcebook.transfer.column_types import JSONB, is_exportable, parquet_type
from sourcebook.transfer.ledger_tables import LedgerTable
from sourcebook.transfer.new_numbers import REFERRING, NewNumbers
from sourcebook.transfer.parquet_files import read_parts


def load_table(connection: Connection, table: LedgerTable, path: Path, numbers: NewNumbers) -> int:
    """Insert the rows of a file into a table of the ledger, and return their number.

    Args:
        connection: in the transaction of the import.
        table: the table.
        path: the Parquet file with its rows.
        numbers: the new numbers; those of the table's own rows are added.

    Raises:
        TransferError: the file is damaged, of another kind, or contradicts itself.
    """
    known = {
        str(name): int(oid) for name, oid in connection.execute(queries["importable_columns"], {"table": table.name})
    }
    if table.name not in REFERRING:
        known.pop("id", None)
    types = {name: parquet_type(oid, name) for name, oid in known.items() if is_exportable(oid)}
    for made_here in ("generation_id", "audience_id"):
        types.pop(made_here, None)
    staging = sql.Identifier(f"imported_{table.name}")
    rows = 0
    for part in read_parts(path, types):
        columns = _columns(table, part, path, numbers)
        names = sql.SQL(", ").join(sql.Identifier(name) for name in columns)
        place = {"table": sql.Identifier(table.name), "columns": names}
        if table.is_shared and not rows:
            connection.execute(queries["create_staging"].format(staging=staging, **place))
        target = {**place, "table": staging} if table.is_shared else place
        oids = [known[name] for name in columns]
        copy_columns(connection, queries["copy_rows"].format(**target), oids, columns.values())
        if table.is_shared:
            connection.execute(queries["keep_new_rows"].format(staging=staging, **place))
        rows += part.num_rows
        del part, columns  # so that they are not in memory beside the next ones
    if table.is_shared and rows:
        connection.execute(queries["drop_staging"].format(staging=staging))
    return rows


def copy_columns(
    connection: Connection,
    statement: sql.SQL | sql.Composed,
    types: Sequence[int | str],
    columns: Iterable[Sequence[Any]],
) -> None:
    """Copy values, given by column, into a table.

    Args:
        connection: in a transaction.
        statement: the COPY statement.
        types: names or numbers of the columns' types.
        columns: values of each column; of jsonb its text.
    """
    values = [
        [None if text is None else Jsonb(text, dumps=str) for text in column] if kind == JSONB else column
        for kind, column in zip(types, columns, strict=True)
    ]
    with connection.cursor().copy(statement) as copy:
        copy.set_types(types)
        for row in zip(*values, strict=True):
            copy.write_row(row)


def _columns(table: LedgerTable, part: pa.RecordBatch, path: Path, numbers: NewNumbers) -> Mapping[str, list[Any]]:
    """Return the values of each column, with the names and numbers of this base."""
    columns = {name: part.column(name).to_pylist() for name in part.schema.names}
    if "collection" in columns:
        columns["collection"] = [numbers.collection] * part.num_rows
    if table.name == "indexed_document":
        columns["generation_id"] = [numbers.generation] * part.num_rows
    for column in REFERRING.values():
        if column in columns:
            columns[column] = numbers.translate(column, columns[column], path)
    if table.name in REFERRING:
        columns["id"] = numbers.draw(table.name, columns["id"])
    return columns
