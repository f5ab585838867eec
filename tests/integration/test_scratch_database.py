"""Scratch databases: theirs alone, gone at the end, after SIGKILL, and after what ends the process that drops them."""

import signal
import subprocess
import sys
import uuid

import pytest
from psycopg.conninfo import make_conninfo

from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.scratch import PREFIX, drop_abandoned, scratch_database
from sourcebook.errors import DatabaseError
from tests.waiting import wait_until

_WORK = """
import sys, time
from pathlib import Path
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.scratch import scratch_database
with Database(DatabaseLocation(Path(sys.argv[1]), sys.argv[2])) as database, scratch_database(database):
    print("made", flush=True)
    time.sleep(600)
"""


def scratches(database: Database) -> list[str]:
    with database.connection() as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX])
        return [name for (name,) in rows]


def test_a_scratch_database_is_empty_and_goes_at_the_end(database: Database) -> None:
    """One in use is nobody else's to drop; one that was left is dropped by the next."""
    with scratch_database(database) as scratch, scratch.connection() as connection:
        assert connection.execute("SELECT count(*) FROM document").fetchone() == (0,)
        drop_abandoned(database)
        assert len(scratches(database)) == 1
    assert scratches(database) == []
    with database.connection() as connection:
        connection.execute(f"CREATE DATABASE {PREFIX}left".encode())
    drop_abandoned(database)
    assert scratches(database) == []


def test_a_scratch_database_has_the_locale_of_the_knowledge_base(database: Database) -> None:
    """Whatever the server gives new databases: a knowledge base refuses one that knows the letters of English alone."""
    name = f"other_locale_{uuid.uuid4().hex[:8]}"
    locale = b"SELECT datcollate, datctype FROM pg_database WHERE datname = current_database()"
    with database.connection() as connection:
        own = connection.execute(locale).fetchone()
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'".encode())
        try:
            url = make_conninfo(database.url, dbname=name)
            with (
                Database(DatabaseLocation(database.location.home, url)) as other,
                scratch_database(other) as scratch,
                scratch.connection() as inside,
            ):
                assert inside.execute(locale).fetchone() == ("C", "C.UTF-8") != own
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def test_a_killed_process_leaves_no_scratch_database(database: Database) -> None:
    """SIGKILL leaves it no time: another process drops the database."""
    with subprocess.Popen(
        [sys.executable, "-c", _WORK, str(database.location.home), database.url], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"made\n"
        assert len(scratches(database)) == 1
        child.send_signal(signal.SIGKILL)
    wait_until(lambda: not scratches(database))


def test_a_role_that_may_make_no_database_is_told_what_it_needs(database: Database) -> None:
    """The message names the statement for the administrator."""
    role = f"bounded_{uuid.uuid4().hex[:8]}"
    with database.connection() as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA sourcebook TO {role}".encode())
        try:
            location = DatabaseLocation(database.location.home, make_conninfo(database.url, user=role))
            with (
                Database(location, upgrades=False) as bounded,
                pytest.raises(DatabaseError, match=rf"may not create .* ALTER ROLE {role} CREATEDB"),
                scratch_database(bounded),
            ):
                pass
        finally:
            connection.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())
