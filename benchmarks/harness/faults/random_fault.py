"""Random faults: a row of any table of the index is deleted, doubled or changed by SQL, as by somebody's mistake."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import psycopg
from psycopg import sql

Connection = psycopg.Connection[tuple[Any, ...]]

TABLES = (
    "chunk",
    "search_entry",
    "keyword_entry",
    "lexeme",
    "keyword_block",
    "keyword_block_size",
    "text_configuration",
    "indexed_document",
    "embedding",
    "generation",
    "document",
    "parsed_content",
    "raw_file",
    "attachment",
    "listed_folder",
    "tally",
)
"""The tables of the index, and those of the ledger that it is made from."""
_KEPT = {
    "generation": ("entry_count", "total_length", "text_count", "average_length", "averaged_entries", "prepared_with"),
}
"""Columns that a fault may change, of tables whose other columns are settings."""
_HARMLESS = ("seal", "storage", "created_at", "updated_at", "parsed_at", "first_seen_at", "changed_at", "hashed_at")
"""Columns that decide nothing."""
_OTHER = {
    "bigint": "({column} + 1 + floor(random() * 3))",
    "integer": "({column} + 1 + floor(random() * 3))::integer",
    "real": "({column} * 3 + 1)",
    "double precision": "({column} + 1)",
    "numeric": "({column} + 1)",
    "text": "({column} || ' changed')",
    "text[]": "array_append({column}, 'changed')",
    "bytea": "({column} || '\\x00'::bytea)",
    "boolean": "(NOT {column})",
    "jsonb": "'[]'::jsonb",
    "tsvector": "({column} || 'changed:1'::tsvector)",
    "halfvec": "subvector({column}, 1, vector_dims({column}) - 1)",
    "sparsevec": "('{{1:7.5}}/' || split_part({column}::text, '/', 2))::sparsevec",
    "timestamp with time zone": "({column} - interval '1 day')",
}
"""Another value of a column, by its type."""
_ORDERS = {"frontier": ("source_id", "url")}
"""Keys that order the rows of a table, where their places depend on the times of requests."""
_BYPASS = "SET LOCAL session_replication_role = replica"


@dataclass(frozen=True, slots=True)
class Fault:
    """A deed at a row, for messages of failures."""

    table: str
    deed: str
    where: str

    def __str__(self) -> str:
        return f"{self.table}: {self.deed} ({self.where})"


class FaultMaker:
    """Faults at random rows, by a session that is not the library's.

    Args:
        connection: to the database, in autocommit mode, as a user who may set session_replication_role.
        random: source of the choices.
        tables: tables to choose from.
    """

    def __init__(self, connection: Connection, random: Random, tables: Sequence[str] = TABLES) -> None:
        self._connection = connection
        self._random = random
        self._tables = tables
        self._connection.execute("SELECT setseed(0)")
        self._columns = {table: self._columns_of(table) for table in tables}

    def make(self) -> Fault:
        """Make one fault; a constraint may refuse several before."""
        while True:
            table = self._random.choice(self._tables)
            try:
                with self._connection.transaction():
                    bypass = self._random.random() < 0.5
                    if bypass:
                        self._connection.execute(_BYPASS)
                    done = self._make(table)
            except (psycopg.IntegrityError, psycopg.DataError, psycopg.ProgrammingError):
                continue
            if done is not None:
                return Fault(table, done, "without triggers" if bypass else "with triggers")

    def _make(self, table: str) -> str | None:
        order = sql.SQL(", ").join(map(sql.Identifier, _ORDERS.get(table, ("ctid",))))
        held = self._connection.execute(
            sql.SQL("SELECT tableoid::regclass::text, ctid::text FROM {} ORDER BY 1, {}").format(
                sql.Identifier(table), order
            )
        ).fetchall()
        if not held:
            return None
        name, place = self._random.choice(held)
        target = sql.SQL(name) if self._random.random() < 0.5 else sql.Identifier(table)
        where = sql.SQL("ctid = {} AND tableoid = {}::regclass").format(sql.Literal(place), sql.Literal(name))
        deeds = ["change"] if table in _KEPT else ["delete", "double", "change", "change"]
        deed = self._random.choice(deeds)
        if deed == "delete":
            return self._run("deleted", sql.SQL("DELETE FROM {} WHERE {}").format(target, where))
        columns = self._columns[table]
        if deed == "double":
            # A copy under another key: the first column of the key that may change.
            changed = self._random.choice([column for column in columns if columns[column] in _OTHER])
            values = [
                self._other(column, columns) if column == changed else sql.Identifier(column) for column in columns
            ]
            statement = sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} WHERE {}").format(
                sql.Identifier(table),
                sql.SQL(", ").join(map(sql.Identifier, columns)),
                sql.SQL(", ").join(values),
                sql.Identifier(table),
                where,
            )
            return self._run(f"doubled with another {changed}", statement)
        kept = [column for column in _KEPT.get(table, columns) if column not in _HARMLESS and columns[column] in _OTHER]
        changed = self._random.choice(kept)
        statement = sql.SQL("UPDATE {} SET {} = {} WHERE {} AND {} IS NOT NULL").format(
            target, sql.Identifier(changed), self._other(changed, columns), where, sql.Identifier(changed)
        )
        return self._run(f"{changed} changed", statement)

    def _run(self, deed: str, statement: sql.Composed) -> str | None:
        return deed if self._connection.execute(statement).rowcount else None

    def _other(self, column: str, columns: dict[str, str]) -> sql.Composed:
        return sql.SQL(_OTHER[columns[column]]).format(column=sql.Identifier(column))

    def _columns_of(self, table: str) -> dict[str, str]:
        """Return the columns that a statement may write, with their types."""
        return dict(
            self._connection.execute(
                "SELECT attname, CASE WHEN atttypid = 'halfvec'::regtype THEN 'halfvec' "
                "WHEN atttypid = 'sparsevec'::regtype THEN 'sparsevec' ELSE format_type(atttypid, NULL) END "
                "FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped "
                "AND attidentity = '' AND attgenerated = '' ORDER BY attnum",
                [table],
            ).fetchall()
        )
