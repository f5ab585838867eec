"""Tables as sources of records: rows of a database in batches, without a right to write."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from sourcebook.config.records import RecordSource, TableSettings
from sourcebook.errors import FailureClass, ListingError, SourcebookError
from sourcebook.installation import install_command
from sourcebook.records.environment import Secrets
from sourcebook.records.record import Row

_POSTGRESQL: Final = re.compile(r"^postgres(ql)?://")
_SQLITE: Final = re.compile(r"sqlite:///((?!:memory:|file:)[^?]+)")
_KEYS: Final = 500
"""Keys of one query."""
LOCK_SECONDS: Final = 10
"""Seconds that a look waits for a table that another program has locked."""


class Table(Protocol):
    """An open table. Every method reads it anew."""

    def fields(self) -> Sequence[str]:
        """Return the names of its columns."""

    def marks(self, key: str, updated: str) -> Iterator[tuple[object, object]]:
        """Yield the key of every row with its version."""

    def rows(self, key: str, wanted: Sequence[object] | None) -> Iterator[Row]:
        """Yield all rows, or those with some keys."""


@contextmanager
def open_table(settings: RecordSource) -> Iterator[Table]:
    """Open the table of a source, and check that it has the columns that the settings name.

    Raises:
        ListingError: it cannot be reached or read; the message has no secret in it.
    """
    if settings.table is None:
        raise ValueError(settings.name)
    secrets = Secrets()
    url = secrets.filled(settings.table.url)
    secrets.hide(url)
    try:
        with _opened(settings.table, url) as table:
            _check_fields(settings, table.fields())
            yield table
    except SourcebookError:
        raise
    except ImportError as error:
        package = error.name or str(error)
        reason = f"reading the table needs the package {package}: {install_command('pipeline')}, or another driver, "
        reason += "such as pymysql for mysql+pymysql://"
        raise ListingError(reason, FailureClass.UNSUPPORTED) from None
    except Exception as error:  # each driver has errors of its own
        from psycopg import Error as LedgerError

        if isinstance(error, LedgerError):  # of the ledger, to which the caller writes meanwhile
            raise
        cause = getattr(error, "orig", None) or error
        said = " ".join(secrets.shown(str(cause)).split())[:500]
        raise ListingError(f"the table cannot be read: {said or type(cause).__name__}", _class_of(error)) from None


def _opened(table: TableSettings, url: str) -> Any:
    if table.is_parquet or url.partition("?")[0].lower().endswith((".parquet", ".pq")):
        from sourcebook.records.parquet import open_parquet

        return open_parquet(url)
    if url.startswith("duckdb:"):
        from sourcebook.records.local_tables import open_duckdb

        return open_duckdb(url, table)
    if path := _SQLITE.fullmatch(url):
        from sourcebook.records.local_tables import open_sqlite

        _check_file(path[1])
        return open_sqlite(path[1], table)
    return _open_database(url, table)


def _check_file(path: str) -> None:
    """Refuse the file of a database that is not there, which its driver would make."""
    if not Path(path).is_file():
        raise ListingError(f"the database {path} does not exist or is not mounted", FailureClass.MISSING)


def _check_fields(settings: RecordSource, columns: Sequence[str]) -> None:
    named = {
        "key": settings.key,
        "title": settings.title,
        "text": settings.text,
        "media_type": settings.media_type,
        "url": settings.url,
        "updated": settings.updated,
        "deleted": settings.deleted,
        "language": settings.language,
        "labels": settings.labels,
        **{f"metadata.{name}": field for name, field in settings.metadata.items()},
    }
    for setting, field in named.items():
        if field is not None and field.partition(".")[0] not in columns and field not in columns:
            raise ListingError(
                f"{setting}: the table has no column {field}; it has {', '.join(columns)}", FailureClass.MISSING
            )
        if field is not None and columns.count(field) > 1:
            raise ListingError(f"{setting}: there are several columns {field}", FailureClass.UNSUPPORTED)


def _class_of(error: Exception) -> FailureClass:
    unreachable = type(error).__name__ in {"OperationalError", "InterfaceError", "TimeoutError"}
    return FailureClass.SERVER if unreachable else FailureClass.UNREADABLE


@contextmanager
def _open_database(url: str, settings: TableSettings) -> Iterator[Table]:
    import sqlalchemy as sa

    file = sa.make_url(url).database if url.startswith("sqlite") else None
    if file and not file.startswith((":memory:", "file:")):
        _check_file(file)
    engine = sa.create_engine(_POSTGRESQL.sub("postgresql+psycopg://", url), poolclass=sa.NullPool)
    with engine.connect() as connection:
        dialect = engine.dialect.name
        if dialect == "postgresql":
            connection = connection.execution_options(postgresql_readonly=True, isolation_level="REPEATABLE READ")
            # SQL here: PostgreSQL's, sent to a database that may not be ours
            connection.exec_driver_sql(f"SET lock_timeout = '{LOCK_SECONDS}s'")
        elif dialect == "sqlite":
            connection.exec_driver_sql("PRAGMA query_only = ON")
        elif dialect in {"mysql", "mariadb"}:
            # SQL here: MySQL's, sent to a database that is not ours
            connection.exec_driver_sql("SET SESSION TRANSACTION READ ONLY")
            connection.exec_driver_sql(f"SET SESSION lock_wait_timeout = {LOCK_SECONDS}")
            connection.commit()
        table = _DatabaseTable(connection, settings)
        try:
            yield table
        finally:
            table.close()
            connection.rollback()
            engine.dispose()


class _DatabaseTable:
    """A table, a view or a query of a database that SQLAlchemy reaches; a query is read as a subquery."""

    def __init__(self, connection: Any, settings: TableSettings) -> None:
        import sqlalchemy as sa

        self._sa = sa
        self._connection = connection
        self._result: Any = None
        self._table: Any
        if settings.query is not None:
            query = settings.query.rstrip().rstrip(";").replace(":", r"\:")  # SQLAlchemy's parameters begin with it
            self._table = sa.text(f"({query}\n) AS q")
        else:
            self._table = sa.table(settings.name or "", schema=settings.namespace)

    def fields(self) -> Sequence[str]:
        result = self._connection.execute(self._sa.select(self._sa.text("*")).select_from(self._table).limit(0))
        return list(result.keys())

    def marks(self, key: str, updated: str) -> Iterator[tuple[object, object]]:
        columns: Any = self._sa.column(key), self._sa.column(updated)
        for _, (found, mark) in self._read(self._sa.select(*columns).select_from(self._table)):
            yield found, mark

    def rows(self, key: str, wanted: Sequence[object] | None) -> Iterator[Row]:
        every = self._sa.select(self._sa.text("*")).select_from(self._table)
        if wanted is None:
            yield from self._rows(every)
            return
        for start in range(0, len(wanted), _KEYS):
            keys = list(wanted[start : start + _KEYS])
            yield from self._rows(every.where(self._sa.column(key).in_(keys)))

    def _rows(self, statement: Any) -> Iterator[Row]:
        return (dict(zip(names, row, strict=True)) for names, row in self._read(statement))

    def _read(self, statement: Any) -> Iterator[tuple[Sequence[str], Sequence[object]]]:
        """Run a statement, and yield its columns' names with each row: few are in memory, as each may be large."""
        if self._connection.dialect.driver == "psycopg":
            yield from self._streamed(statement)
            return
        options = {"stream_results": True, "max_row_buffer": 1}
        self._result = self._connection.execute(statement, execution_options=options)
        names = list(self._result.keys())
        yield from ((names, row) for row in self._result)

    def _streamed(self, statement: Any) -> Iterator[tuple[Sequence[str], Sequence[object]]]:
        """Read row by row as PostgreSQL sends them: its cursors send a number of rows, whatever their size."""
        from sourcebook.records.any_year import take_any_year

        compiled = statement.compile(self._connection, compile_kwargs={"render_postcompile": True})
        cursor = self._connection.connection.driver_connection.cursor()
        take_any_year(cursor.adapters)
        names: list[str] = []
        try:
            for row in cursor.stream(compiled.string, compiled.params):
                names = names or [column.name for column in cursor.description]
                yield names, row
        except self._connection.dialect.dbapi.Error as error:  # as SQLAlchemy has it: the ledger's are of psycopg, too
            raise self._sa.exc.DBAPIError.instance(compiled.string, None, error, type(error)) from None

    def close(self) -> None:
        """Close a cursor whose rows were not all read, which MySQL wants before anything else."""
        if self._result is not None:
            self._result.close()
