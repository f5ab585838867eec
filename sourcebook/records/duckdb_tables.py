"""A DuckDB database as tables of records, by DuckDB's own package: its dialect for SQLAlchemy trails behind it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sourcebook.config.records import TableSettings
from sourcebook.records.record import Row

_BATCH: Final = 10_000


@contextmanager
def open_duckdb(url: str, settings: TableSettings) -> Iterator["_DuckTable"]:
    """Open a database without a right to write."""
    import duckdb

    with duckdb.connect(url.removeprefix("duckdb:///"), read_only=True) as connection:
        yield _DuckTable(connection, settings)


class _DuckTable:
    def __init__(self, connection: Any, settings: TableSettings) -> None:
        self._connection = connection
        if settings.query is not None:
            self._table = f"({settings.query.rstrip().rstrip(';')}\n) AS q"
        else:
            self._table = ".".join(_quoted(part) for part in (settings.namespace, settings.name) if part)

    def fields(self) -> Sequence[str]:
        return [column[0] for column in self._connection.execute(f"FROM {self._table} LIMIT 0").description]

    def marks(self, key: str, updated: str) -> Iterator[tuple[object, object]]:
        # SQL here: DuckDB's, sent to a database that is not ours
        result = self._connection.execute(f"FROM {self._table} SELECT {_quoted(key)}, {_quoted(updated)}")
        while rows := result.fetchmany(_BATCH):
            yield from rows

    def rows(self, key: str, wanted: Sequence[object] | None) -> Iterator[Row]:
        every = f"FROM {self._table}"
        if wanted is None:
            result = self._connection.execute(every)
        else:
            result = self._connection.execute(f"{every} WHERE list_contains(?, {_quoted(key)})", [list(wanted)])
        names = [column[0] for column in result.description]
        while rows := result.fetchmany(_BATCH):
            yield from (dict(zip(names, row, strict=True)) for row in rows)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
