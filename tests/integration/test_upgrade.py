"""An upgrade of a database in use: searches go on, a killed one goes on where it was, the command tells of it."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from sourcebook import KnowledgeBase
from sourcebook.database import schema
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.schema import Migration
from sourcebook.errors import DatabaseBusyError, DatabaseError
from tests.conftest import CreateDatabase
from tests.integration.cli.command import run
from tests.integration.releases.databases import RELEASES, build_checkout, build_release
from tests.waiting import wait_until

_NEWEST = schema.newest_version()
ALTERED = ("document", "search_entry", "crawled_page")
STEPS = [
    Migration(
        _NEWEST + 1,
        "columns",
        "ALTER TABLE document ADD COLUMN trial text; UPDATE document SET trial = title;"
        "ALTER TABLE search_entry ADD COLUMN trial text; ALTER TABLE crawled_page ADD COLUMN trial text",
    ),
    Migration(_NEWEST + 2, "index", "CREATE INDEX document_trial ON document (trial); SELECT pg_sleep(0)"),
]
"""What later versions do: columns of the tables that searches and stages read, rows, and an index."""
KILLED = f"""
import sys
from pathlib import Path
from sourcebook.database import schema
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.schema import Migration
real = schema.migrations()
steps = [Migration(*each) for each in {[(step.version, step.name, step.text) for step in STEPS]!r}]
steps[1] = Migration(steps[1].version, steps[1].name, steps[1].text.replace("pg_sleep(0)", "pg_sleep(300)"))
schema.migrations = lambda: [*real, *steps]
Database(DatabaseLocation(Path(sys.argv[1]), sys.argv[2]))
"""


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Make this process a later Sourcebook, which has two more migrations."""
    real = schema.migrations()
    return lambda: monkeypatch.setattr(schema, "migrations", lambda: [*real, *STEPS])


def rows(url: str) -> dict[str, int]:
    """Return the number of rows of every table but migrations, counters and marks of what the next ingest does."""
    tables = """
        SELECT oid::regclass::text FROM pg_class
        WHERE relnamespace = 'sourcebook'::regnamespace AND relkind IN ('r', 'p')
        AND relname NOT IN ('schema_migration', 'measurement', 'changed_document')"""
    with psycopg.connect(url) as connection:
        names = [name for (name,) in connection.execute(tables)]
        return {name: connection.execute(f"SELECT FROM {name}".encode()).rowcount for name in names}


def versions(url: str) -> list[int]:
    with psycopg.connect(url) as connection:
        return [
            number for (number,) in connection.execute("SELECT version FROM sourcebook.schema_migration ORDER BY 1")
        ]


@pytest.mark.parametrize("release", [*RELEASES, "checkout"])
def test_searches_go_on_during_an_upgrade(
    create_database: CreateDatabase, tmp_path: Path, later: Callable[[], None], release: str
) -> None:
    """Also while the upgrade waits for a session that holds a table; then every row is there, and more searches."""
    url = create_database("template1")
    build_checkout(url, 58) if release == "checkout" else build_release(url, release)
    Database(DatabaseLocation(tmp_path, url)).close()  # this version's
    before, ended, failures, searched = rows(url), threading.Event(), list[Exception](), list[float]()

    def search(knowledge: KnowledgeBase) -> None:
        while not ended.is_set():
            try:
                assert [hit.uri for hit in knowledge.search("house", mode="keyword")] == ["gauge"]
            except Exception as error:  # noqa: BLE001 - none may come
                failures.append(error)
            searched.append(time.monotonic())

    location = DatabaseLocation(tmp_path, url)
    with KnowledgeBase(Database(location)) as knowledge, ThreadPoolExecutor(3) as threads:
        searching = [threads.submit(search, knowledge) for _ in range(2)]
        try:
            wait_until(lambda: len(searched) > 5, what="searches")
            with ExitStack() as held:
                readers = {table: held.enter_context(psycopg.connect(url)) for table in ALTERED}  # such as exports
                for table, reader in readers.items():
                    reader.execute(f"SELECT count(*) FROM sourcebook.{table}".encode())
                later()
                upgrading = threads.submit(Database, location)
                number = len(searched)
                time.sleep(2.3)  # the upgrade waits, twice at least
                assert len(searched) > number
                for reader in readers.values():  # each table is free while it waits for the next one
                    reader.rollback()
                    time.sleep(0.95)  # no wait: so long a session holds the next table
            upgrading.result(60).close()
            number = len(searched)
            wait_until(lambda: len(searched) > number + 20, what="searches after the upgrade")
        finally:
            ended.set()
        for each in searching:
            each.result()
        assert failures == []
        assert knowledge.search("Gezeiten", mode="keyword")[0].title == "Gezeiten"
    assert rows(url) == before
    assert versions(url) == [migration.version for migration in schema.migrations()]


def test_a_killed_upgrade_goes_on_where_it_was(
    create_database: CreateDatabase, tmp_path: Path, later: Callable[[], None]
) -> None:
    """What was committed stays; the session of the dead process ends soon, and with it its locks."""
    url = create_database("template1")
    build_release(url, RELEASES[-1])
    before = rows(url)
    upgrade = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path), url])
    with psycopg.connect(url, autocommit=True) as watch:
        sleeps = (
            "SELECT FROM pg_stat_activity WHERE query ~ 'sleep.300' AND state = 'active' AND pid <> pg_backend_pid()"
        )
        wait_until(lambda: watch.execute(sleeps).rowcount == 1, what="the second step runs")
        upgrade.kill()
        upgrade.wait()
        assert max(versions(url)) == STEPS[0].version
        wait_until(lambda: watch.execute(sleeps).rowcount == 0, what="the session of the dead process ends")
    later()
    with KnowledgeBase(Database(DatabaseLocation(tmp_path, url))) as knowledge:
        assert [hit.uri for hit in knowledge.search("house", mode="keyword")] == ["gauge"]
    assert max(versions(url)) == STEPS[1].version
    after = rows(url)
    assert {name: after[name] for name in before} == before


def test_the_command_says_what_it_would_do_and_does_it(
    create_database: CreateDatabase, monkeypatch: pytest.MonkeyPatch, later: Callable[[], None]
) -> None:
    """Exit code 3 where there is something to do; a database newer than the program is refused in a sentence."""
    url = create_database("template1")
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", url)
    assert run("upgrade", "--check").out == f"There are no tables to upgrade: new ones are made in version {_NEWEST}.\n"
    build_release(url, RELEASES[-1])
    later()
    before = versions(url)
    checked = run("upgrade", "--check", "--json")
    assert checked.code == 3
    assert checked.json["found"] == max(before)
    assert [step["version"] for step in checked.json["steps"]][-2:] == [step.version for step in STEPS]
    told = run("upgrade", "--check")
    assert (told.code, versions(url)) == (3, before)
    assert (
        f"{STEPS[0].version} columns, {STEPS[1].version} index.\nMake a backup, and run: sourcebook upgrade" in told.out
    )
    done = run("upgrade")
    assert done.out.endswith(
        f"Applied {STEPS[0].version} columns\nApplied {STEPS[1].version} index\n"
        f"The tables have version {STEPS[1].version}.\n"
    )
    assert (done.code, max(versions(url))) == (0, STEPS[1].version)
    assert run("upgrade", "--check").code == 0
    monkeypatch.undo()
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", url)
    for words in (["upgrade", "--check"], ["upgrade"], ["search", "house"]):
        refused = run(*words)
        assert refused.code == 1
        assert refused.err == (
            f"sourcebook: the database has schema version {STEPS[1].version}, this Sourcebook knows {_NEWEST}; upgrade "
            "Sourcebook, or restore the backup from before\n"
        )


def test_an_upgrade_that_never_gets_its_tables_names_the_remedy(
    create_database: CreateDatabase, tmp_path: Path, later: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = create_database("template1")
    build_release(url, RELEASES[-1])
    later()
    monkeypatch.setattr(schema, "_SECONDS_FOR_LOCKS", 0.0)
    with psycopg.connect(url) as reader:
        reader.execute("SELECT count(*) FROM sourcebook.document")
        with pytest.raises(DatabaseBusyError, match=r"end the programs that use it, .* sourcebook upgrade"):
            Database(DatabaseLocation(tmp_path, url))


def test_a_role_that_does_not_own_the_tables_is_told_who_upgrades(
    create_database: CreateDatabase, tmp_path: Path, later: Callable[[], None]
) -> None:
    url = create_database("template1")
    build_release(url, RELEASES[-1])
    later()
    role = f"reader_{time.monotonic_ns()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA sourcebook TO {role}".encode())
        connection.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA sourcebook TO {role}".encode())
        with pytest.raises(DatabaseError, match=r"may not build or upgrade .* owns the schema run  sourcebook upgrade"):
            Database(DatabaseLocation(tmp_path, url.replace("postgres:", f"{role}:")))
        connection.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())
