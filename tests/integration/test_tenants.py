"""Tenants, as docs/tenants.md makes them: its statements, word for word."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from sourcebook import KnowledgeBase
from sourcebook.admin.access_keys import create_key, find_key
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
