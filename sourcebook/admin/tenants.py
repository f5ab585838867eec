"""Tenants: databases of one PostgreSQL, each with a role of its own that no other one can be.

An administrator of the server makes them. What a killed call left is completed by the next one.
"""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sourcebook.admin.access_keys import create_key, list_keys
from sourcebook.contract.tenants import NewTenant, Tenant
from sourcebook.database.connecting import open_connection
from sourcebook.database.database import Database
from sourcebook.database.failures import typed_errors
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseError, QueryError

CONNECTIONS: Final = 40
"""Connections of a tenant at once, unless somebody says: a server takes up to 20, `sourcebook up` up to 16."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}").fullmatch
_RESERVED: Final = re.compile(r"postgres|template[01]|public|none|pg_.*|sourcebook_reader").fullmatch
_KEY: Final = "administrator"
"""Name of the first key of a tenant."""


def list_tenants(administrator: str) -> list[Tenant]:
    """Return the tenants of a PostgreSQL by name.

    Args:
        administrator: URL of a database of it.
    """
    with _administering(administrator) as connection:
        return [Tenant(*row) for row in connection.execute(queries["tenants"])]


def add_tenant(
    administrator: str, name: str, home: Path, *, connections: int | None, new_password: bool, actor: str
) -> NewTenant:
    """Make a tenant, or what of it is missing: its role, its database with the tables, its first key.

    Args:
        administrator: URL of a database of the PostgreSQL, as a role that may make roles and databases.
        name: of its database and its role.
        home: state folder.
        connections: how many it may have at once; None for 40, or what it has.
        new_password: whether a role that is there gets another password.
        actor: who makes it.

    Raises:
        QueryError: the name is not allowed, or somebody else's.
        DatabaseError: the administrator may not do it, or the server is out of reach.
    """
    _check(name)
    identifier, password = sql.Identifier(name), None
    with _administering(administrator) as connection:
        if connection.execute(queries["has_reader"]).fetchone() is None:
            connection.execute(queries["make_reader"])
        owner = connection.execute(queries["owner_of_database"], {"name": name}).fetchone()
        if owner is not None and owner[0] != name:
            raise QueryError(
                f"there is a database {name} of the role {owner[0]}, which is no tenant's: choose another name"
            )
        is_new = _role(connection, name)
        if is_new or new_password:
            password = secrets.token_urlsafe(24)
            hashed = connection.pgconn.encrypt_password(password.encode(), name.encode(), b"scram-sha-256").decode()
            said = queries["set_password_of_tenant"].format(name=identifier, password=sql.Literal(hashed))
            connection.execute(said)
        if is_new or connections is not None:
            most = sql.Literal(CONNECTIONS if connections is None else connections)
            connection.execute(queries["limit_connections_of_tenant"].format(name=identifier, most=most))
        if owner is None:
            connection.execute(queries["make_database_of_tenant"].format(name=identifier))
        connection.execute(queries["close_database_to_others"].format(name=identifier))
    inside = make_conninfo(administrator, dbname=name)
    with _connected(inside) as connection:
        connection.execute(queries["make_vectors"])
    as_tenant = make_conninfo(inside, options=f"-c role={name}")
    with (
        Database(DatabaseLocation(home, as_tenant), max_connections=1) as database,
        database.connection() as connection,
    ):
        key = None if list_keys(connection) else create_key(connection, _KEY, ["admin"], actor=actor)[1]
    return NewTenant(name, _url(administrator, name, password), password is not None, key)


def remove_tenant(administrator: str, name: str) -> None:
    """Drop the database and the role of a tenant, and end its sessions.

    Raises:
        QueryError: there is no such tenant.
        DatabaseError: the administrator may not do it, or the server is out of reach.
    """
    with _administering(administrator) as connection:
        if name not in {each[0] for each in connection.execute(queries["tenants"])}:
            raise QueryError(f"there is no tenant {name}: sourcebook tenants list  shows them")
        for query in ("drop_database_of_tenant", "drop_role_of_tenant"):
            connection.execute(queries[query].format(name=sql.Identifier(name)))


def _check(name: str) -> None:
    if not _NAME(name) or _RESERVED(name):
        raise QueryError(
            f"{name!r} is no name of a tenant: small letters, digits and _, a letter first, at most 63, and none of "
            "PostgreSQL's own names"
        )


def _role(connection: Connection, name: str) -> bool:
    """Make the role of a tenant where it is missing; return whether it was."""
    found = connection.execute(queries["role_of_tenant"], {"name": name}).fetchone()
    if found is not None:
        if not found[0]:
            raise QueryError(f"there is a role {name}, which is no tenant's: choose another name")
        return False
    with connection.transaction():  # a role of this name that may not ask for principals is somebody else's
        for query in ("make_role_of_tenant", "let_role_read"):
            connection.execute(queries[query].format(name=sql.Identifier(name)))
    return True


@contextmanager
def _administering(url: str) -> Iterator[Connection]:
    """Connect as the administrator; whoever is none is told nothing about tenants.

    Raises:
        DatabaseError: the role may not make roles and databases.
    """
    with _connected(url) as connection:
        if connection.execute(queries["administers"]).fetchone() != (True,):
            raise DatabaseError(
                "tenants are the administrator's: this role may not make roles and databases",
                remedy="set SOURCEBOOK_DATABASE_URL to a database of the administrator",
            )
        yield connection


@contextmanager
def _connected(url: str) -> Iterator[Connection]:
    with open_connection(psycopg.Connection, url) as connection, typed_errors():
        yield connection


def _url(administrator: str, name: str, password: str | None) -> str:
    """Return the URL of a tenant's database at the same server; without its password where that is not known."""
    account = name if password is None else f"{name}:{password}"
    rest = {key: value for key, value in conninfo_to_dict(administrator).items() if value is not None}
    host, port = (str(rest.pop(key, "")) for key in ("host", "port"))
    for key in ("user", "password", "dbname", "options"):
        rest.pop(key, None)
    if not host or host.startswith("/"):
        rest |= {key: value for key, value in (("host", host), ("port", port)) if value}
        place = ""
    else:
        place = f"{host}:{port}" if port else host
    return f"postgresql://{account}@{place}/{quote(name)}{'?' if rest else ''}{urlencode(rest)}"
