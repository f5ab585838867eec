"""Records of a real MariaDB, read by PyMySQL through SQLAlchemy."""

import logging
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest

from sourcebook.config.records import RecordSource
from sourcebook.errors import FailureClass, ListingError
from sourcebook.records.tables import open_table
from tests.integration.record_stages import RecordStages
from tests.mysql_server import DRIVER, PASSWORD, missing_programs, running
from tests.packages import NotInstalledError, installed

COLUMNS = """
    id BIGINT PRIMARY KEY, heading VARCHAR(200), body LONGTEXT, link TEXT, changed DATETIME(6), status VARCHAR(20),
    price DECIMAL(10, 2), day DATE, at TIME, more JSON, gone BIT(1), `order` INT, labels JSON, scan LONGBLOB
"""
ROW = """
    INSERT INTO notes (id, heading, body, changed, status, price, day, at, more, gone, `order`, labels, scan)
    VALUES (%s, 'Note', %s, '2024-01-01 10:00:00.5', 'open', 12.50, '2024-02-29', '10:00:00', '{"by": {"name": "Ada"}}',
            b'0', 3, '["pier", "lamp, oil"]', %s)
"""


@dataclass
class MySql:
    """The database `notes` with one table `notes`, which is empty."""

    url: str
    cursor: Any

    def do(self, statement: str, *values: Any) -> Any:
        self.cursor.execute(statement, values)
        return self.cursor.fetchall()

    def settings(self, url: str | None = None, **table: str) -> RecordSource:
        place = {"url": url or self.url, **(table or {"name": "notes"})}
        return RecordSource.model_validate({"name": "notes", "table": place, "key": "id", "text": "body"})

    def read(self, query: str) -> list[Any]:
        with open_table(self.settings(query=query)) as table:
            return list(table.rows("id", None))


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Any]]:
    if missing := missing_programs():
        pytest.skip(f"this machine has no {missing[0]}")
    try:
        driver = str(installed(DRIVER, "mysql"))
    except NotInstalledError as error:
        pytest.skip(str(error))
    sys.path.append(driver)
    with running(tmp_path_factory.mktemp("mysql")) as (port, cursor):
        cursor.execute("CREATE USER reader@'%%' IDENTIFIED BY %s", (PASSWORD,))
        cursor.execute("GRANT ALL ON notes.* TO reader@'%'")
        yield port, cursor
    sys.path.remove(driver)


@pytest.fixture
def mysql(mariadb: tuple[int, Any]) -> MySql:
    port, cursor = mariadb
    for statement in ("DROP DATABASE IF EXISTS notes", "CREATE DATABASE notes CHARACTER SET utf8mb4", "USE notes"):
        cursor.execute(statement)
    cursor.execute(f"CREATE TABLE notes ({COLUMNS})")
    return MySql(f"mysql+pymysql://reader:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/notes", cursor)


def test_rows_of_every_type_are_found_edited_deleted_and_may_be_empty(
    mysql: MySql, records: RecordStages, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Decimals, days, times, JSON and bits become metadata, tags and marks of deletion; no log has the password."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("NOTES_URL", mysql.url)
    metadata = {"by": "more.by.name", **{name: name for name in ("price", "day", "at", "order", "status")}}
    fields: dict[str, Any] = {"metadata": metadata, "labels": "labels", "deleted": "gone", "url": None}
    records.configure(table={"url": "${NOTES_URL}", "name": "notes"}, **fields)
    for number, body in enumerate(("The barnacle 🐚 sits.", "A bowline holds.", "A tern dives."), 1):
        mysql.do(ROW, number, body, b"\0\xff")
    mysql.do("INSERT INTO notes (id, body) VALUES (4, 'The limpet has NULLs.'), (5, NULL)")
    documents = records.run()["documents"]
    assert (documents.added, documents.failed, documents.extra["skipped"]) == (5, 0, 1)
    (hit,) = records.stages.search("barnacle", mode="keyword")
    assert "🐚" in hit.text
    assert set(hit.tags) == {"notes", "pier", "lamp, oil"}
    found = {name: hit.metadata[name] for name in metadata}
    assert found == {"by": "Ada", "price": 12.5, "day": "2024-02-29", "at": "10:00:00", "order": 3, "status": "open"}
    assert hit.metadata["updated"] == "2024-01-01T10:00:00.500000"

    mysql.do("UPDATE notes SET body = 'The whelk walks.', changed = '2024-01-01 10:00:01' WHERE id = 1")
    mysql.do("UPDATE notes SET gone = b'1', changed = '2024-01-01 10:00:01' WHERE id = 2")
    mysql.do("DELETE FROM notes WHERE id = 3")
    reports = records.run()
    assert (reports["documents"].changed, reports["raw_files"].removed) == (1, 2)
    assert records.stages.found("whelk") == {"1"}
    assert records.stages.found("limpet") == {"4"}
    assert not records.stages.found("bowline") | records.stages.found("tern")

    mysql.do("DROP TABLE notes")
    assert "Table 'notes.notes' doesn't exist" in str(records.look())
    assert records.stages.found("whelk") == {"1"}
    assert PASSWORD not in caplog.text
    assert quote(PASSWORD, safe="") not in caplog.text


def test_bytes_in_a_column_are_read_as_files(
    mysql: MySql, records: RecordStages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTES_URL", mysql.url)
    mysql.do(ROW, 1, None, b"<h1>Tides</h1><p>The barnacle marks high water.</p>")
    mysql.do("UPDATE notes SET status = 'text/html'")
    table = {"url": "${NOTES_URL}", "name": "notes"}
    records.configure(table=table, text="scan", media_type="status", url=None, metadata=[])
    assert records.run()["documents"].added == 1
    assert records.stages.found("barnacle") == {"1"}


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM notes",
        "DELETE FROM notes RETURNING *",
        "SELECT 1) AS q; DELETE FROM notes; #",
        "DROP TABLE notes",
        "SELECT * FROM notes FOR UPDATE",
        "SELECT *, remove_all() FROM notes",
    ],
)
def test_a_query_that_writes_is_refused(mysql: MySql, query: str) -> None:
    """Also one whose function writes, by a user who may: the transaction is read-only."""
    mysql.do(ROW, 1, "The barnacle sits.", None)
    mysql.do("CREATE FUNCTION remove_all() RETURNS INT MODIFIES SQL DATA BEGIN DELETE FROM notes; RETURN 1; END")
    with pytest.raises(ListingError, match="the table cannot be read"):
        mysql.read(query)
    assert mysql.do("SELECT count(*) FROM notes") == ((1,),)


def test_signs_of_drivers_in_a_query_are_its_own(mysql: MySql) -> None:
    """Colons and percent signs are no parameters; a comment and a semicolon may end it."""
    mysql.do(ROW, 1, "at 10:30, 50% of a\\:b", None)
    query = r"SELECT id, body, 7%4 rest FROM notes WHERE body LIKE '%:30%' AND body <> ':x' AND body LIKE '%:b' -- s:s"
    assert mysql.read(f"{query}\n;") == [{"id": 1, "body": "at 10:30, 50% of a\\:b", "rest": 3}]


def test_rows_come_from_a_cursor_of_the_server(mysql: MySql) -> None:
    """Sixty megabytes of rows take less than half of that in memory, and a look may end among them."""
    mysql.do("INSERT INTO notes (id, body) SELECT seq, repeat('tide', 2500) FROM seq_1_to_6000")
    with open_table(mysql.settings()) as table:
        tracemalloc.start()
        assert sum(1 for _ in table.rows("id", None)) == 6_000
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 30_000_000
    with open_table(mysql.settings()) as table:
        rows = table.rows("id", None)
        assert next(iter(rows))["id"] == 1


def test_what_is_wrong_with_a_url_is_said_without_its_password(mysql: MySql) -> None:
    """A wrong password, port or database, and a driver that is not installed."""
    wrong = {
        mysql.url.replace("s3cret", "wr0ng"): ("Access denied for user 'reader'", FailureClass.SERVER),
        mysql.url.replace("/notes", "/nowhere"): ("to database 'nowhere'", FailureClass.SERVER),
        mysql.url.rpartition(":")[0] + ":9/notes": ("Can't connect to MySQL server", FailureClass.SERVER),
        mysql.url.replace("+pymysql", ""): ("MySQLdb", FailureClass.UNSUPPORTED),
    }
    for url, (reason, failure_class) in wrong.items():
        with pytest.raises(ListingError, match=reason) as failure:
            open_table(mysql.settings(url)).__enter__()
        assert failure.value.failure_class is failure_class
        assert "s3cret" not in str(failure.value)
        assert "wr0ng" not in str(failure.value)
