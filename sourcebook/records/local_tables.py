"""Database files as tables of records, by their own drivers.

SQLAlchemy takes longer to import than a look at an unchanged table of SQLite takes, and its dialect for DuckDB trails
behind DuckDB.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, Final

from sourcebook.config.records import TableSettings
from sourcebook.records.record import Row

_KEYS: Final = 500
"""Keys of one query."""


@contextmanager
def open_duckdb(url: str, settings: TableSettings) -> Iterator["_LocalTable"]:
    """Open a database without a right to write."""
    import duckdb

    with duckdb.connect(url.removeprefix("duckdb:///"), read_only=True) as connection:
        yield _LocalTable(connection, settings)


@contextmanager
def open_sqlite(path: str, settings: TableSettings) -> Iterator["_LocalTable"]:
    """Open a database that exists, and read it as it is now, without a right to write."""
    import sqlite3

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        yield _LocalTable(connection, settings)


class _LocalTable:
    """A table, a view or a query of a database file; a query is read as a subquery."""

    def __init__(self, connection: Any, settings: TableSettings) -> None:
        self._connection = connection
        if settings.query is not None:
            self._table = f"({settings.query.rstrip().rstrip(';')}\n) AS q"
        else:
            self._table = ".".join(_quoted(part) for part in (settings.namespace, settings.name) if part)

    def fields(self) -> Sequence[str]:
        return [column[0] for column in self._connection.execute(f"{self._select()} LIMIT 0").description]

    def marks(self, key: str, updated: str) -> Iterator[tuple[object, object]]:
        yield from iter(self._connection.execute(self._select(key, updated)).fetchone, None)

    def rows(self, key: str, wanted: Sequence[object] | None) -> Iterator[Row]:
        if wanted is None:
            yield from self._rows(self._select(), ())
            return
        for start in range(0, len(wanted), _KEYS):
            keys = wanted[start : start + _KEYS]
            places = ", ".join("?" * len(keys))
            yield from self._rows(f"{self._select()} WHERE {_quoted(key)} IN ({places})", keys)

    def _select(self, *columns: str) -> str:
        # SQL here: the database's own, sent to a file that is not ours
        return f"SELECT {', '.join(map(_quoted, columns)) or '*'} FROM {self._table}"  # noqa: S608 - names are quoted

    def _rows(self, statement: str, values: Sequence[object]) -> Iterator[Row]:
        result = self._connection.execute(statement, list(values))
        names = [column[0] for column in result.description]
        yield from (dict(zip(names, row, strict=True)) for row in iter(result.fetchone, None))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
