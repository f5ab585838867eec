"""A backup is taken while the base is used, and a restoration makes the base what it was, whole or not at all."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.schema import newest_version
from sourcebook.errors import TransferError
from sourcebook.transfer.backup import backup, restore
from tests.integration.releases.databases import make_checkout
from tests.integration.stages import Stages
from tests.waiting import wait_until

WAITING = "SELECT count(*) AS number FROM pg_stat_activity WHERE application_name = 'psql' AND wait_event_type = 'Lock'"


@pytest.fixture
def filled(stages: Stages) -> Stages:
    stages.write("power.md", "# Batteries\n\nThe batteries last three days in winter.\n")
    stages.write("gauge.md", "# Tide gauge\n\nThe gauge is read twice a day.\n")
    stages.configure()
    stages.run()
    return stages


@pytest.fixture
def empty(filled: Stages, create_database: Callable[[str], str], tmp_path: Path) -> Iterator[Stages]:
    """An empty knowledge base over the same folder."""
    with Database(DatabaseLocation(tmp_path / "other", create_database("sourcebook_template"))) as database:
        other = Stages(database, filled.embedder, filled.parsers, filled.root, filled.settle, filled.speech_home)
        yield other
        other.close()


def contents(stages: Stages) -> list[tuple[Any, ...]]:
    rows = stages.rows(
        "SELECT document.uri, version, chunk.text, entry.vector::text "
        "FROM document JOIN chunk ON document_id = document.id "
        "JOIN search_entry entry ON chunk_id = chunk.id ORDER BY 1, 2, 3"
    )
    return [tuple(row.values()) for row in rows]


def execute(stages: Stages, statement: str) -> None:
    with stages.connection() as connection:
        connection.execute(statement.encode())


def test_a_restored_base_is_the_one_that_was_backed_up(filled: Stages, empty: Stages, tmp_path: Path) -> None:
    """Same rows, same hits; the next ingest finds nothing to do."""
    done = backup(filled.database, tmp_path / "base.dump")
    assert done.bytes == (tmp_path / "base.dump").stat().st_size
    restored = restore(empty.database, tmp_path / "base.dump")
    assert (restored.collections, restored.documents) == (("handbook",), 2)
    assert contents(empty) == contents(filled)
    assert empty.found("batteries") == {"power.md"}
    empty.configure()
    reports = empty.run()
    assert not any(report.added or report.changed or report.removed for report in reports.values())
    empty.assert_sound()


def test_a_url_that_leaves_the_server_to_the_environment_is_that_server(
    filled: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the programs as for every connection: in docker-compose.yml the password is in PGPASSWORD alone."""
    options = conninfo_to_dict(filled.database.url)
    for variable, name in (("PGHOST", "host"), ("PGPORT", "port"), ("PGUSER", "user"), ("PGPASSWORD", "password")):
        monkeypatch.setenv(variable, str(options.get(name) or "unused"))
    with Database(DatabaseLocation(tmp_path / "home", f"postgresql:///{options['dbname']}")) as database:
        assert backup(database, tmp_path / "base.dump").bytes
        assert restore(database, tmp_path / "base.dump", replace=True).documents == 2
    assert filled.found("batteries") == {"power.md"}


def test_a_filled_base_is_replaced_only_when_asked(filled: Stages, tmp_path: Path) -> None:
    """What came after the backup is then gone, and the next ingest takes it in; Dagster's tables stay."""
    backup(filled.database, tmp_path / "base.dump")
    execute(filled, "CREATE TABLE public.run_history AS SELECT 7 AS number")
    filled.write("new.md", "# New\n\nA lighthouse stands behind the pier.\n")
    filled.run()
    with pytest.raises(TransferError, match="has handbook already"):
        restore(filled.database, tmp_path / "base.dump")
    assert filled.found("lighthouse") == {"new.md"}
    restore(filled.database, tmp_path / "base.dump", replace=True)
    assert filled.found("lighthouse") == set()
    assert filled.rows("SELECT number FROM public.run_history") == [{"number": 7}]
    assert not filled.rows("SELECT FROM pg_namespace WHERE nspname = 'sourcebook_replaced'")
    filled.run()
    assert filled.found("lighthouse") == {"new.md"}
    filled.assert_sound()


def test_searches_go_on_while_a_base_is_restored(filled: Stages, tmp_path: Path) -> None:
    """Every search before, during and after it finds what the base or the backup holds."""
    backup(filled.database, tmp_path / "base.dump")
    found: list[set[str]] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            found.append(filled.found("batteries"))

    filled.found("batteries")
    asking = threading.Thread(target=ask)
    asking.start()
    try:
        restore(filled.database, tmp_path / "base.dump", replace=True)
    finally:
        done.set()
        asking.join()
    assert len(found) > 1
    assert all(names == {"power.md"} for names in found)


def test_a_restoration_gives_way_to_a_search_that_needs_further_tables(filled: Stages, tmp_path: Path) -> None:
    """A transaction that has read one table, and then reads the others, ends; neither waits for the other forever."""
    backup(filled.database, tmp_path / "base.dump")
    with psycopg.connect(filled.database.url) as other, ThreadPoolExecutor(1) as restorer:
        other.execute("SET deadlock_timeout = '1min'")  # the restoration is the one that the database would end
        tables = other.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'sourcebook'").fetchall()
        other.execute("SELECT count(*) FROM sourcebook.document")
        restoration = restorer.submit(restore, filled.database, tmp_path / "base.dump", replace=True)
        wait_until(lambda: filled.rows(WAITING)[0]["number"] > 0, what="the restoration waits")
        for (name,) in tables:
            other.execute(sql.SQL("SELECT count(*) FROM sourcebook.{}").format(sql.Identifier(name)))
        assert not restoration.done()
        other.commit()
        assert restoration.result(timeout=60).documents > 0
    assert filled.found("batteries") == {"power.md"}


def test_a_restoration_is_not_kept_waiting_by_transactions_that_overlap(filled: Stages, tmp_path: Path) -> None:
    """There is no moment at which nobody reads, and none of those who read lasts for long."""
    backup(filled.database, tmp_path / "base.dump")
    done = threading.Event()

    def read(delay: float) -> None:
        done.wait(delay)
        with psycopg.connect(filled.database.url) as other:
            while not done.is_set():
                other.execute("SELECT count(*) FROM sourcebook.document")
                done.wait(0.8)  # short: it is how long a table is held
                other.commit()

    with ThreadPoolExecutor(2) as readers:
        reading = [readers.submit(read, delay) for delay in (0, 0.4)]
        try:
            assert restore(filled.database, tmp_path / "base.dump", replace=True).documents > 0
        finally:
            done.set()
    for each in reading:
        each.result()


def test_a_damaged_backup_changes_nothing(filled: Stages, tmp_path: Path) -> None:
    """A truncated one, one with flipped bytes, a foreign file and a dump of something else."""
    path = tmp_path / "base.dump"
    backup(filled.database, path)
    whole = path.read_bytes()
    before = contents(filled)
    damaged = {
        "half": whole[: len(whole) // 2],
        "end": whole[:-200],
        "head": whole[:40],
        "flipped": whole[: len(whole) * 2 // 3]
        + bytes(255 - byte for byte in whole[len(whole) * 2 // 3 :][:400])
        + whole[len(whole) * 2 // 3 + 400 :],
        "text": b"CREATE TABLE x ();",
        "nothing": b"",
    }
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(TransferError, match=r"damaged|no backup|not restored") as told:
            restore(filled.database, tmp_path / name, replace=True)
        assert str(tmp_path / name) in str(told.value)
        assert contents(filled) == before
    with pytest.raises(TransferError, match="cannot be read"):
        restore(filled.database, tmp_path / "missing", replace=True)
    assert filled.found("batteries") == {"power.md"}


def test_a_backup_of_a_checkout_before_the_first_release(filled: Stages, tmp_path: Path) -> None:
    """That of the last one is restored and taken over; an older one is refused, and nothing changes."""
    with filled.connection() as connection:
        make_checkout(connection, 57)
    backup(filled.database, tmp_path / "older.dump")
    with pytest.raises(TransferError, match=r"older\.dump is of a checkout before .* sourcebook export"):
        restore(filled.database, tmp_path / "older.dump", replace=True)
    if newest_version() > 1:
        return
    with filled.connection() as connection:
        connection.execute("INSERT INTO schema_migration (version, name) VALUES (58, 'last')")
    backup(filled.database, tmp_path / "last.dump")
    restore(filled.database, tmp_path / "last.dump", replace=True)
    assert filled.found("batteries") == {"power.md"}
    filled.write("power.md", "# Batteries\n\nThe accumulators last three days in winter.\n")
    filled.run()
    assert filled.found("accumulators") == {"power.md"}
    filled.assert_sound()


def test_a_backup_that_fails_leaves_the_former_one(filled: Stages, tmp_path: Path) -> None:
    path = tmp_path / "base.dump"
    backup(filled.database, path)
    before = path.read_bytes()
    execute(filled, "DROP SCHEMA sourcebook CASCADE")
    with pytest.raises(TransferError, match="was not written"):
        backup(filled.database, path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir() if "dump" in entry.name] == ["base.dump"]
    with pytest.raises(TransferError, match="there is no folder"):
        backup(filled.database, tmp_path / "missing" / "base.dump")
