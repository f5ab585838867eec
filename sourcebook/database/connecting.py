"""Opening of a connection: its URL, its time limit, signs of life on the network, and the settings of its session."""

import logging
import time
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import ConnectionTimeout

from sourcebook.database.failures import counted, database_error
from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseError

_ALIVE: Final = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 15_000}
"""TCP's signs of life: a server whose machine is gone ends a wait after 25 s, not after two hours."""
_SECONDS_PER_ADDRESS: Final = 2
"""Seconds for one of several addresses of a host name, such as localhost's two."""
_SECONDS: Final = 3
"""Seconds for the only address of a server."""
SECONDS_OF_RECOVERY: Final = 60.0
"""Seconds that long work waits for a server that starts, or recovers after one of its processes was killed."""
_SECONDS_BETWEEN_ATTEMPTS: Final = 0.1
# psycopg warns of a rollback that fails after a failure; the failure itself is raised. Without a handler, Python would
# write the warning on stderr, beside the one sentence of a command.
logging.getLogger("psycopg").addHandler(logging.NullHandler())
_Ping: Final = psycopg.pq.Ping
SomeConnection = TypeVar("SomeConnection", bound=psycopg.Connection[Any])


def open_connection(
    kind: type[SomeConnection],
    url: str,
    *,
    revive: Callable[[], None] | None = None,
    recovery: float = SECONDS_OF_RECOVERY,
) -> SomeConnection:
    """Open a connection in autocommit mode, within 3 to 4 s unless the URL says `connect_timeout`.

    A server that answers that it starts, recovers or stops is asked again.

    Args:
        kind: class of the connection.
        url: PostgreSQL URL, or a connection string of keywords.
        revive: called where the server cannot be reached, before the second and last attempt.
        recovery: seconds for which a server that starts or recovers is asked again.

    Raises:
        DatabaseError: the URL is malformed, or the server refuses.
        DatabaseUnavailableError: the server cannot be reached.
    """
    options = connection_options(url)
    deadline = time.monotonic() + recovery
    is_first = True
    while True:
        try:
            return kind.connect(url, autocommit=True, **options)
        except psycopg.Error as error:
            failure = counted(database_error(error, connecting=True))
            if not failure.is_temporary:
                raise failure from error
            state = _Ping.NO_RESPONSE if isinstance(error, ConnectionTimeout) else _state_of(url, options)
            is_waiting = state == _Ping.REJECT and time.monotonic() < deadline
            if not is_waiting and not (is_first and (revive or state == _Ping.OK)):
                if state == _Ping.REJECT or (revive and not is_first):
                    failure = type(failure)(failure.detail, remedy="retry later, or see  sourcebook doctor")
                raise failure from error
        if is_waiting:
            time.sleep(_SECONDS_BETWEEN_ATTEMPTS)
            continue
        is_first = False
        if state != _Ping.OK and revive:
            revive()


def _state_of(url: str, options: dict[str, Any]) -> int:
    """Return what a server says of itself, in whatever language: REJECT where it starts, recovers or stops."""
    return psycopg.pq.PGconn.ping(make_conninfo(url, **options).encode())


def configure_session(connection: psycopg.Connection[Any]) -> None:
    """Set what a session of the library needs, whatever its role, its database or its server set."""
    connection.execute(queries["configure_session"] + queries["configure_connection"])


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


def check_session(connection: psycopg.Connection[Any], url: str) -> None:
    """Refuse a connection pooler that lends the sessions of the server for the length of a transaction.

    Such a pooler gives the idle session of one connection to the next.

    Args:
        connection: to the database.
        url: its URL.

    Raises:
        DatabaseError: another connection has the same session.
    """
    session = connection.execute(queries["session_process"]).fetchone()
    if session == (connection.info.backend_pid,):
        return  # there is no pooler
    with open_connection(psycopg.Connection, url) as second:
        is_shared = second.execute(queries["session_process"]).fetchone() == session
    if is_shared:
        raise DatabaseError(
            "the connection pooler of the database lends sessions for single transactions, and locks, settings and the "
            "search path belong to sessions",
            remedy="set pool_mode = session for this database, or connect to PostgreSQL itself",
        )


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
