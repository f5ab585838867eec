"""PostgreSQL of somebody else: roles, settings, limits and copies; docs/deployment.md has the versions."""

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from urllib.parse import quote, urlencode

import psycopg
import pytest
from psycopg import sql

from orchestration.pooled_storage import PooledPostgresStorage
from orchestration.supervisor import free_port, listens
from sourcebook.database.connecting import open_connection
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.server_account import ServerAccount
from sourcebook.errors import DatabaseError, DatabaseUnavailableError
from tests.acceptance.server_trial import try_out
from tests.acceptance.workplace import Workplace
from tests.own_server import HOST, POSTGRES_16, OwnServer
from tests.tls_front import TlsFront
from tests.waiting import wait_until

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
    """PostgreSQL 16 with few connections, and a role that may create nothing but in its two schemas."""
    with OwnServer(shared_public_folder / "own", POSTGRES_16, {"max_connections": 20}) as server:
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
def test_a_role_with_two_schemas_and_settings_of_its_own_over_tls(
    server: OwnServer, workplace: Workplace, public_folder: Path
) -> None:
    """Everything works as ever; a copy of the server is promoted, and goes on from there."""
    url = make_database(server, DATABASE)
    for name, value in {**SETTINGS, "search_path": "dagster"}.items():
        server.execute(f"ALTER ROLE keeper SET {name} = '{value}'")
    with TlsFront(public_folder / "keys & more", server.port) as front:
        secure = url.replace(str(server.port), str(front.port))
        with pytest.raises(DatabaseUnavailableError, match=r"certificate required"):
            open_connection(psycopg.Connection, secure)
        try_out(replace(workplace, database_url=f"{secure}?{urlencode(front.parameters, quote_via=quote)}"))
    server.copy_to(public_folder / "copy")
    with (
        OwnServer(public_folder / "copy", POSTGRES_16, {"hot_standby": "off"}) as copy,
        ThreadPoolExecutor(1) as beside,
    ):
        other = replace(workplace, database_url=url.replace(str(server.port), str(copy.port)))
        with pytest.raises(DatabaseUnavailableError, match=r"retry later"):
            open_connection(psycopg.Connection, str(other.database_url), recovery=0.3)
        workplace.write("docs/knots.md", "# Knots\n\nA bowline holds.\n")
        ingested = beside.submit(other.ingest)  # waits for the promotion
        copy.promote()
        assert ingested.result()["handbook"]["documents"]["added"] == 1
        assert other.json("search", "bowline")["results"][0]["title"] == "Knots"


@pytest.mark.parametrize(
    ("preparation", "refusal"),
    [
        ("CREATE EXTENSION vector; REVOKE CREATE ON DATABASE {} FROM keeper",
         "keeper may not build or upgrade .* CREATE SCHEMA IF NOT EXISTS sourcebook AUTHORIZATION keeper"),
        ("CREATE SCHEMA extensions; CREATE EXTENSION vector SCHEMA extensions",
         "pgvector is in the schema extensions, .* ALTER EXTENSION vector SET SCHEMA public"),
        ("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC", "GRANT TEMPORARY ON DATABASE {} TO keeper"),
        ("SELECT", "pgvector cannot be enabled .* as a user who may"),
    ],
    ids=["schema", "extension", "temporary", "pgvector"],
)  # fmt: skip
def test_what_a_role_lacks_is_named_with_its_remedy(server: OwnServer, preparation: str, refusal: str) -> None:
    name = f"lacking_{abs(hash(preparation))}"
    server.execute(f"CREATE DATABASE {name}")
    server.execute(*preparation.format(name).split(";"), database=name)
    with pytest.raises(DatabaseError, match=refusal.format(name)):
        Database(DatabaseLocation(server.folder.parent, server.url(name, "keeper")))


def test_a_database_that_lacks_characters_is_refused(server: OwnServer) -> None:
    server.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(DatabaseError, match=r"encoding of the database is LATIN1.* ENCODING 'UTF8'"):
        Database(DatabaseLocation(server.folder.parent, server.url("latin")))
    server.execute("CREATE DATABASE letterless LOCALE 'C' TEMPLATE template0")
    with pytest.raises(DatabaseError, match=r"no letters but those of English; .* LOCALE 'C.UTF-8'"):
        Database(DatabaseLocation(server.folder.parent, server.url("letterless")))


@pytest.mark.parametrize("search_path", ["", "public"], ids=["none", "not its own"])
def test_a_role_without_a_schema_for_dagster_is_told_so(server: OwnServer, search_path: str) -> None:
    """By the commands that open Dagster's storage."""
    url = make_database(server, f"without_{search_path}")
    with pytest.raises(DatabaseError, match=r"Dagster's tables cannot be created: .* CREATE SCHEMA dagster AUTHORIZ"):
        PooledPostgresStorage(f"{url}?options=-csearch_path%3D{search_path}")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://keeper@{host}:{port}/{name}",
        "postgres://keeper@{host}:{port}/{name}?connect_timeout=7",
        "host={host} port={port} user=keeper dbname='{plain}'",
        "postgresql://keeper@{host}:1,{host}:{port}/{name}",
    ],
)
def test_dagster_reads_a_url_as_searches_do(server: OwnServer, url: str) -> None:
    """Its database is that of the search, whatever form names it."""
    plain, name = "a b%20c", "a%20b%2520c"
    if not server.execute(f"SELECT 1 FROM pg_database WHERE datname = '{plain}'"):
        make_database(server, plain)
    storage: Any = PooledPostgresStorage(
        url.format(host=HOST, port=server.port, name=name, plain=plain), should_autocreate_tables=False
    )
    with storage.run_storage.connect() as connection:
        found = connection.exec_driver_sql("SELECT current_database(), current_setting('TimeZone')").one()
    assert tuple(found) == (plain, "UTC")


PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH')}:/usr/sbin")


@pytest.mark.skipif(PGBOUNCER is None, reason="PgBouncer is not installed")
@pytest.mark.parametrize("mode", ["session", "transaction"])
def test_a_pooler_that_lends_sessions_for_a_transaction_is_refused(
    server: OwnServer, public_folder: Path, mode: str
) -> None:
    """One that lends them for a connection is not."""
    url = make_database(server, f"pooled_{mode}")
    port = free_port(HOST)
    settings = public_folder / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n* = host={HOST} port={server.port} user=keeper\n"
        f"[pgbouncer]\nlisten_addr = {HOST}\nlisten_port = {port}\n"
        f"unix_socket_dir =\nauth_type = any\npool_mode = {mode}\n"
        "ignore_startup_parameters = extra_float_digits\n"
    )
    with TemporaryFile() as output:
        pooler = ServerAccount.find().start([str(PGBOUNCER), str(settings)], output)
        try:
            wait_until(lambda: listens(HOST, port), what="PgBouncer listens")
            location = DatabaseLocation(public_folder, url.replace(str(server.port), str(port)))
            if mode == "session":
                Database(location).close()
            else:
                with pytest.raises(DatabaseError, match=r"single transactions.* pool_mode = session"):
                    Database(location)
        finally:
            pooler.terminate()
            pooler.wait()
