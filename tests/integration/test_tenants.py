"""Tenants, as docs/tenants.md makes them: its statements, word for word."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from sourcebook import KnowledgeBase
from sourcebook.admin.access_keys import create_key, find_key
from sourcebook.command.app import app
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.transfer.backup import backup, restore
from tests.checkout import DOCS

TENANTS = ("acme_of_a_test", "globex_of_a_test")


def statements() -> list[str]:
    """Return the blocks of the page: once for all, for a tenant, in its database, and its removal."""
    return re.findall(r"```sql\n(.*?)```", (DOCS / "tenants.md").read_text("utf-8"), re.DOTALL)


def execute(url: str, block: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in re.sub(r"--[^\n]*", "", block).split(";"):
            if statement.strip():
                connection.execute(statement.encode())


def there(administrator: str) -> set[str]:
    with psycopg.connect(administrator) as connection:
        return {name for (name,) in connection.execute("SELECT datname FROM pg_database")}


@pytest.fixture
def tenants(server: EmbeddedServer) -> Iterator[list[str]]:
    """URLs of two tenants as their own roles."""
    once, tenant, inside, removal = statements()
    administrator = server.url("postgres")
    with psycopg.connect(administrator) as connection:
        is_known = connection.execute("SELECT FROM pg_roles WHERE rolname = 'sourcebook_reader'").fetchone()
    if is_known is None:
        execute(administrator, once)
    try:
        for name in TENANTS:
            execute(administrator, tenant.replace("acme", name))
            execute(server.url(name), inside)
        yield [server.url(name).replace("postgres:", f"{name}:") for name in TENANTS]
    finally:
        for name in TENANTS:
            execute(administrator, removal.replace("acme", name) if name in there(administrator) else "")


def test_tenants_know_nothing_of_each_other(tenants: list[str], tmp_path: Path) -> None:
    """Roles that may create nothing else have all that a knowledge base needs, and no way into another one."""
    homes = [tmp_path / name for name in TENANTS]
    with (
        Database(DatabaseLocation(homes[0], tenants[0])) as acme,
        Database(DatabaseLocation(homes[1], tenants[1])) as globex,
    ):
        with acme.connection() as connection:
            _, key = create_key(connection, "front end", actor="test")
            assert find_key(connection, key) is not None
        with globex.connection() as connection:
            assert find_key(connection, key) is None
            assert connection.execute("SELECT current_user::text").fetchone() == (TENANTS[1],)
        for database in (acme, globex):
            assert KnowledgeBase(database).seen_by(["user:anna"]).documents() == []
    for url, own, other in zip(tenants, TENANTS, reversed(TENANTS), strict=True):
        with pytest.raises(psycopg.OperationalError, match=f'permission denied for database "{other}"'):
            psycopg.connect(url.replace(f"/{own}?", f"/{other}?"))


def test_a_tenant_is_backed_up_restored_and_removed_alone(
    tenants: list[str], server: EmbeddedServer, tmp_path: Path
) -> None:
    with Database(DatabaseLocation(tmp_path / "acme", tenants[0])) as acme:
        with acme.connection() as connection:
            _, key = create_key(connection, "front end", actor="test")
        backup(acme, tmp_path / "acme.backup")
    with Database(DatabaseLocation(tmp_path / "globex", tenants[1])) as globex:
        assert KnowledgeBase(globex).documents() == []
    *_, inside, removal = statements()
    execute(server.url("postgres"), removal.replace("acme", TENANTS[0]))
    assert there(server.url("postgres")) & {*TENANTS} == {TENANTS[1]}
    execute(server.url("postgres"), statements()[1].replace("acme", TENANTS[0]))
    execute(server.url(TENANTS[0]), inside)
    with Database(DatabaseLocation(tmp_path / "acme", tenants[0])) as acme:
        restore(acme, tmp_path / "acme.backup", replace=True)
        with acme.connection() as connection:
            assert find_key(connection, key) is not None


@pytest.fixture
def administrator(server: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """URL of the administrator, as the command has it; its tenants are gone afterwards."""
    url = server.url("postgres")
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    yield url
    for name in TENANTS:
        execute(url, f"DROP DATABASE IF EXISTS {name} WITH (FORCE); DROP ROLE IF EXISTS {name}")


def command(*words: str, answer: str | None = None) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["tenants", *words], input=answer)
    return done.exit_code, done.stdout, done.stderr


def said(output: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in output.splitlines())


def test_the_command_makes_tenants_that_know_nothing_of_each_other(
    administrator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a key that administers, a limit of connections, and no way into another one, which no command tells of."""
    made, told = [], []
    for name in TENANTS:
        made.append(said(command("add", name, "--connections", "7")[1]))
        with monkeypatch.context() as tenant:
            tenant.setenv("SOURCEBOOK_DATABASE_URL", made[0]["SOURCEBOOK_DATABASE_URL"])
            told += [command("list"), command("add", TENANTS[1]), command("remove", TENANTS[1], "--yes")]
    assert len({*told}) == 1
    assert "are the administrator's" in told[0][2]
    acme, globex = made
    with psycopg.connect(acme["SOURCEBOOK_DATABASE_URL"]) as connection:
        row = "SELECT rolname, current_database()::text, rolconnlimit FROM pg_roles WHERE rolname = current_user"
        assert connection.execute(row).fetchone() == (TENANTS[0], TENANTS[0], 7)
    for own, other in ((acme, globex), (globex, acme)):
        with Database(DatabaseLocation(tmp_path, own["SOURCEBOOK_DATABASE_URL"])) as database:
            with database.connection() as connection:
                found = find_key(connection, own["SOURCEBOOK_KEY"])
                assert found is not None
                assert found.scopes == ("admin",)
                assert find_key(connection, other["SOURCEBOOK_KEY"]) is None
            assert KnowledgeBase(database).seen_by(["user:anna"]).documents() == []
    with pytest.raises(psycopg.OperationalError, match=f'permission denied for database "{TENANTS[1]}"'):
        psycopg.connect(make_conninfo(acme["SOURCEBOOK_DATABASE_URL"], dbname=TENANTS[1]))


def test_a_tenant_that_is_there_stays_and_what_is_missing_is_made(administrator: str, tmp_path: Path) -> None:
    """As after a call that was killed; a password and a key are shown once."""

    def password() -> object:
        with psycopg.connect(administrator) as connection:
            return connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = %s", [TENANTS[0]]).fetchone()

    first = said(command("add", TENANTS[0])[1])
    before = password()
    again = said(command("add", TENANTS[0])[1])
    assert again.keys() == {"SOURCEBOOK_DATABASE_URL"}
    assert f"//{TENANTS[0]}@" in again["SOURCEBOOK_DATABASE_URL"]
    assert password() == before
    with (
        Database(DatabaseLocation(tmp_path, again["SOURCEBOOK_DATABASE_URL"])) as database,
        database.connection() as held,
    ):
        assert find_key(held, first["SOURCEBOOK_KEY"]) is not None
    execute(administrator, f"DROP DATABASE {TENANTS[0]} WITH (FORCE)")
    anew = json.loads(command("add", TENANTS[0], "--new-password", "--json")[1])
    assert (anew["has_password"], anew["key"] not in (None, first["SOURCEBOOK_KEY"])) == (True, True)
    assert password() != before
    code, listing, error = command("list", "--json")
    assert (code, error) == (0, "")
    (listed,) = (each for each in json.loads(listing)["tenants"] if each["name"] == TENANTS[0])
    assert (listed["connections"], listed["connected"], listed["bytes"] > 1e6) == (40, 0, True)


def test_nothing_of_others_becomes_a_tenant_or_is_removed(administrator: str) -> None:
    """Names of PostgreSQL's, a role and a database that are somebody's; removal asks."""
    for name in ("postgres", "pg_acme", "template1", "Acme", "acme-1", 'a"; DROP ROLE b', "sourcebook_reader", ""):
        code, _, error = command("add", name)
        assert (code, "no name of a tenant" in error) == (2, True), name
    acme, globex = TENANTS
    execute(administrator, f"CREATE ROLE {acme} LOGIN SUPERUSER; CREATE DATABASE {globex}")
    assert "is a role" in command("add", acme)[2]
    assert "is a database" in command("add", globex)[2]
    assert command("remove", globex, "--yes")[0] == command("remove", "postgres", "--yes")[0] == 2
    execute(administrator, f"DROP ROLE {acme}; DROP DATABASE {globex}")
    command("add", acme)
    assert command("remove", acme, answer="n\n")[0] == 1
    assert acme in there(administrator)
    with psycopg.connect(make_conninfo(administrator, dbname=acme)):
        assert command("remove", acme, "--yes")[0] == 0
    assert acme not in there(administrator)
    assert "there is no tenant" in command("remove", acme, "--yes")[2]


def test_the_embedded_server_has_no_tenants(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SOURCEBOOK_DATABASE_URL", raising=False)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path))
    code, _, error = command("list")
    assert (code, "a PostgreSQL of your own" in error) == (1, True)
