"""PostgreSQL of somebody else: its roles, its settings, its limits and its copies; docs/databases.md has the versions."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from sourcebook.database.connecting import open_connection
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import DatabaseError, DatabaseUnavailableError
from tests.acceptance.server_trial import try_out
from tests.acceptance.workplace import Workplace
from tests.own_server import POSTGRES_16, OwnServer

DATABASE = 'know%20 the "ledge'
SETTINGS = {
    "DateStyle": "German, DMY",
    "IntervalStyle": "iso_8601",
    "TimeZone": "America/St_Johns",
    "standard_conforming_strings": "off",
    "escape_string_warning": "off",
    "bytea_output": "escape",
    "client_encoding": "LATIN1",
    "extra_float_digits": "-10",
    "default_transaction_isolation": "serializable",
    "statement_timeout": "250ms",
    "lock_timeout": "100ms",
    "idle_in_transaction_session_timeout": "200ms",
    "idle_session_timeout": "1s",
}
"""Settings of a role, each of which has ended an ingest or made its rows wrong."""


@pytest.fixture(scope="module")
def server(shared_public_folder: Path) -> Iterator[OwnServer]:
    """A server with few connections, and a role that may create nothing but in its two schemas."""
    with OwnServer(shared_public_folder / "own", settings={"max_connections": 20, "wal_level": "replica"}) as server:
        server.execute("CREATE ROLE keeper LOGIN")
        yield server


def make_database(server: OwnServer, name: str = "kept") -> str:
    """Make a database as its administrator does for `keeper`, and return its URL."""
    server.execute(f'CREATE DATABASE "{name.replace(chr(34), chr(34) * 2)}"')
    quoted = "".join(f"%{ord(sign):02x}" if sign in ' %"' else sign for sign in name)
    server.execute(
        "CREATE EXTENSION vector",
        "CREATE SCHEMA sourcebook AUTHORIZATION keeper",
        "CREATE SCHEMA dagster AUTHORIZATION keeper",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO PUBLIC",
        f"REVOKE ALL ON DATABASE {sql.Identifier(name).as_string()} FROM PUBLIC",
        f"GRANT CONNECT, TEMPORARY ON DATABASE {sql.Identifier(name).as_string()} TO keeper",
        database=quoted,
    )
    return server.url(quoted, "keeper")


@pytest.mark.usefixtures("model_was_exported")
def test_a_role_that_owns_two_schemas_and_has_settings_of_its_own(server: OwnServer, workplace: Workplace) -> None:
    """Everything works as ever, without a word on stderr: the sessions set what they need."""
    url = make_database(server, DATABASE)
    for name, value in {**SETTINGS, "search_path": "dagster"}.items():
        server.execute(f"ALTER ROLE keeper SET {name} = '{value}'")
    try:
        try_out(replace(workplace, database_url=url))
    finally:
        server.execute("ALTER ROLE keeper RESET ALL")
