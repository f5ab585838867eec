"""SQLite databases: a section for each table."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.tables.description import (
    MOST_TABLES,
    SHOWN_COLUMNS,
    SHOWN_ROWS,
    Column,
    Table,
    counted,
    describe,
    named,
)
from sourcebook.parsing.text.joined_blocks import JoinedBlocks

_SIGNATURE = b"SQLite format 3\x00"
_VERSIONS = slice(18, 20)
"""Bytes of the header that say whether the database has a log of writes beside it."""
_WITHOUT_LOG = b"\x01\x01"
_LONGEST_VALUE = 50_000_000
"""Bytes of a value or a row."""
_STEPS = 200_000_000
"""Instructions of SQLite for a file, above which it is given up: a view of a view may take for ever."""
_STEPS_A_CALL = 100_000
_ALLOWED = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_PRAGMA}
)  # fmt: skip


def parse_sqlite(content: bytes) -> ParsedDocument:
    """Parse a database: columns, types, keys, number of rows and first rows of each table.

    The file is read from a copy in memory, and nothing of it is executed but the reading of tables.

    Raises:
        ParseError: the file is damaged, encrypted, or no SQLite database.
    """
    if not content.startswith(_SIGNATURE):
        raise ParseError("it is no SQLite database, or it is encrypted; check its file name", FailureClass.CORRUPT)
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            _open(connection, content)
            return _document(connection)
        except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
            if isinstance(error, sqlite3.OperationalError) and "interrupted" in str(error):
                raise ParseError(
                    "it takes too long to be read; export its tables as .csv", FailureClass.TOO_LARGE
                ) from error
            raise ParseError(
                f"the database is damaged ({error}); open it in SQLite and save it with VACUUM INTO",
                FailureClass.CORRUPT,
            ) from error


def _open(connection: sqlite3.Connection, content: bytes) -> None:
    # Without its log, a database is what it was when the log was last written into it.
    header = content[: _VERSIONS.start] + _WITHOUT_LOG
    connection.deserialize(header + content[_VERSIONS.stop :])
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    for pragma in ("query_only = 1", "trusted_schema = 0", "cell_size_check = 1"):
        connection.execute(f"PRAGMA {pragma}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
    )  # fmt: skip
    calls = iter(range(_STEPS // _STEPS_A_CALL))
    connection.set_progress_handler(lambda: 0 if next(calls, None) is not None else 1, _STEPS_A_CALL)


def _document(connection: sqlite3.Connection) -> ParsedDocument:
    # SQL here: it reads the file, not the knowledge base.
    entries = connection.execute("SELECT type, name, rootpage FROM sqlite_schema ORDER BY name").fetchall()
    views = [name for kind, name, _ in entries if kind == "view"]
    virtual = [name for kind, name, page in entries if kind == "table" and not page]
    parts = ("sqlite_", *(f"{name}_" for name in virtual))
    names = [name for kind, name, page in entries if kind == "table" and page and not name.startswith(parts)]
    joined = JoinedBlocks()
    joined.add(f"SQLite database with {counted(len(names), 'table')}{_listed(names)}.", "paragraph")
    if views:
        joined.add(f"It has {counted(len(views), 'view')}{_listed(views)}.", "paragraph")
    if virtual:  # their rows are those of a program, which may not be here
        joined.add(f"Not read: {counted(len(virtual), 'virtual table')}{_listed(virtual)}.", "paragraph")
    rows = unread = 0
    for name in names[:MOST_TABLES]:
        table = _table(connection, name)
        rows += table.rows or 0
        unread += (table.rows or 0) - len(table.first)
        describe(joined, table)
    metadata: dict[str, JsonValue] = {"tables": len(names), "rows": rows}
    more = max(len(names) - MOST_TABLES, 0)
    if more or virtual:
        metadata["unread_tables"] = more + len(virtual)
    if more:
        joined.add(f"And {counted(more, 'more table')}.", "paragraph")
    return ParsedDocument(
        joined.markdown(), tuple(joined.blocks), metadata=with_left_out(metadata, {"records": unread})
    )


def _listed(names: Sequence[str]) -> str:
    return f": {named(names[:MOST_TABLES])}" if names else ""


def _table(connection: sqlite3.Connection, name: str) -> Table:
    columns = [
        Column(column, kind or "", ", ".join(_column_notes(bool(required), key)))
        for _, column, kind, required, _, key, hidden in connection.execute(f"PRAGMA table_xinfo({_quoted(name)})")
        if hidden != 1
    ]
    references = [
        f"Column {named([source])} refers to table {named([target])}."
        for _, _, target, source, *_ in connection.execute(f"PRAGMA foreign_key_list({_quoted(name)})")
    ]
    # SQL here: it reads the file, not the knowledge base; SQLite has no parameters for names.
    (rows,) = connection.execute(f"SELECT count(*) FROM {_quoted(name)}").fetchone()  # noqa: S608 # a quoted name
    wanted = ", ".join(_quoted(column.name) for column in columns[:SHOWN_COLUMNS])
    # SQL here: as above.
    first = connection.execute(f"SELECT {wanted} FROM {_quoted(name)} LIMIT {SHOWN_ROWS}").fetchall() if wanted else []  # noqa: S608
    return Table(name, columns, rows, first, references)


def _column_notes(required: bool, key: int) -> Iterator[str]:
    if key:
        yield "primary key"
    if required:
        yield "not null"


def _quoted(name: str) -> str:
    """Return a name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'
