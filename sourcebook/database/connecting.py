"""Opening of a connection: its URL, its time limit, and signs of life on the network."""

import logging
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict

from sourcebook.database.failures import counted, database_error
from sourcebook.errors import DatabaseError

_ALIVE: Final = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 15_000}
"""TCP's signs of life: a server whose machine is gone ends a wait after 25 s, not after two hours."""
_SECONDS_PER_ADDRESS: Final = 2
"""Seconds for one of several addresses of a host name, such as localhost's two."""
_SECONDS: Final = 3
"""Seconds for the only address of a server."""
# psycopg warns of a rollback that fails after a failure; the failure itself is raised. Without a handler, Python would
# write the warning on stderr, beside the one sentence of a command.
logging.getLogger("psycopg").addHandler(logging.NullHandler())
SomeConnection = TypeVar("SomeConnection", bound=psycopg.Connection[Any])


def open_connection(
    kind: type[SomeConnection], url: str, *, revive: Callable[[], None] | None = None
) -> SomeConnection:
    """Open a connection in autocommit mode, within 3 to 4 s unless the URL says `connect_timeout`.

    Args:
        kind: class of the connection.
        url: PostgreSQL URL, or a connection string of keywords.
        revive: called where the server cannot be reached, before the second and last attempt.

    Raises:
        DatabaseError: the URL is malformed, or the server refuses.
        DatabaseUnavailableError: the server cannot be reached.
    """
    options = connection_options(url)
    try:
        return kind.connect(url, autocommit=True, **options)
    except psycopg.Error as error:
        failure = counted(database_error(error, connecting=True))
        if revive is None or not failure.is_temporary:
            raise failure from error
    revive()
    try:
        return kind.connect(url, autocommit=True, **options)
    except psycopg.Error as error:
        failure = counted(database_error(error, connecting=True))
        raise type(failure)(failure.detail, remedy="retry later, or see  sourcebook doctor") from error


def connection_options(url: str) -> dict[str, Any]:
    """Return the options that a URL leaves open.

    Raises:
        DatabaseError: the URL is malformed; the message holds no part of it.
    """
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:
        raise _malformed() from None
    address = url.partition("?")[0]
    ports = str(given.get("port") or "").split(",")
    if "://" in url and (address.count("@") > 1 or not all(not port or port.isdecimal() for port in ports)):
        raise _malformed()
    options: dict[str, Any] = {name: value for name, value in _ALIVE.items() if name not in given}
    if "connect_timeout" not in given:
        host = str(given.get("hostaddr") or given.get("host") or "/")
        options["connect_timeout"] = _SECONDS if _is_one_address(host) else _SECONDS_PER_ADDRESS
    return options


def _is_one_address(host: str) -> bool:
    if host.startswith(("/", "@")) and "," not in host:
        return True
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _malformed() -> DatabaseError:
    return DatabaseError(
        "the database's URL is not of the form postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
        remedy="correct SOURCEBOOK_DATABASE_URL; in its password, write @ as %40, : as %3A, / as %2F, % as %25",
    )
