"""Dagster's storage in PostgreSQL with connections that are kept, for every process that reads `dagster.yaml`.

Dagster's own storage opens a connection for each statement: fifteen a second for an idle `sourcebook up`, most of whose
processor time they took, and some hundreds for a run.
"""

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import quote, urlencode
from weakref import WeakSet

from dagster_postgres.storage import DagsterPostgresStorage
from dagster_postgres.utils import create_pg_engine, get_token_provider_from_config, pg_url_from_config
from psycopg.conninfo import conninfo_to_dict
from psycopg2 import extensions
from sqlalchemy import event
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.pool import Pool

from sourcebook.database.connecting import connection_options
from sourcebook.database.failures import failures_of_dagster
from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseError

if TYPE_CHECKING:
    from dagster_postgres.auth import PgTokenProvider
    from sqlalchemy.engine import Engine

_KEPT: Final = 2
"""Connections that a process keeps; further ones are opened where threads need them at once, and closed after use."""
_SECONDS_KEPT: Final = 300
"""Age in seconds from which a connection is not used again: a balancer may have dropped it without a word."""
_NAME: Final = "sourcebook dagster"
"""Name by which an administrator knows the sessions, and this module those that it configures."""
_NO_PLACE: Final = {"3F000", "42501"}
"""SQLSTATEs where a role has no schema on its search path, or may not create tables there."""
_with_tables: Final[set[str]] = set()
"""URLs of databases that have Dagster's tables."""
_engines: "Final[WeakSet[Engine]]" = WeakSet()
"""Connections of this process."""


class PooledPostgresStorage(DagsterPostgresStorage):
    """Runs, events and schedules of Dagster in one PostgreSQL database, over connections that are kept.

    A kept connection is tried before each use, so that a restart of the server costs a new connection and no error.

    Args:
        postgres_url: URL of the database.
        should_autocreate_tables: whether tables that are missing are made.
        inst_data: Dagster's record of this configuration.
        token_provider: source of passwords that change.
    """

    def __init__(
        self,
        postgres_url: str,
        should_autocreate_tables: bool = True,
        inst_data: Any = None,
        token_provider: "PgTokenProvider | None" = None,
    ) -> None:
        # The code server opens an instance for each look of a sensor: the tables are looked for once a process.
        looks = should_autocreate_tables and postgres_url not in _with_tables
        url = url_for_sqlalchemy(postgres_url)
        try:
            super().__init__(url, looks, inst_data, token_provider)
        except ProgrammingError as error:
            if getattr(error.orig, "pgcode", None) not in _NO_PLACE:
                raise
            raise _no_place(str(error.orig).partition("\n")[0], url) from error
        if looks:
            _with_tables.add(postgres_url)
        self.should_autocreate_tables = should_autocreate_tables
        engine = _engine(url, token_provider)
        for storage in (self._run_storage, self._event_log_storage, self._schedule_storage):
            storage._engine = engine  # noqa: SLF001 - Dagster lets nobody choose it; its version is pinned

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> Self:
        """Open the storage that `dagster.yaml` configures."""
        return cls(
            inst_data=inst_data,
            postgres_url=pg_url_from_config(config_value),
            should_autocreate_tables=config_value.get("should_autocreate_tables", True),
            token_provider=get_token_provider_from_config(config_value),
        )


def url_for_sqlalchemy(url: str) -> str:
    """Return a URL or a connection string as SQLAlchemy reads it with libpq's meaning.

    SQLAlchemy takes neither keywords nor several hosts, and does not decode the name of a database.

    Raises:
        DatabaseError: it is malformed.
    """
    with failures_of_dagster():
        options = connection_options(url)
    given = {**options, **conninfo_to_dict(url), "fallback_application_name": _NAME}
    user, password = (quote(str(given.pop(name, None) or ""), safe="") for name in ("user", "password"))
    return f"postgresql://{user}{password and ':'}{password}@/?{urlencode(given, quote_via=quote)}"


def _no_place(reason: str, url: str) -> DatabaseError:
    role = conninfo_to_dict(url).get("user", "ROLE")
    return DatabaseError(
        f"Dagster's tables cannot be created: {reason}",
        remedy=f"as the database's owner, run  CREATE SCHEMA dagster AUTHORIZATION {role}  and let its search path "
        "begin with that schema (ALTER ROLE); or name a database of its own in SOURCEBOOK_DAGSTER_DATABASE_URL",
    )


@event.listens_for(Pool, "connect")
def _configure(connection: object, record: object) -> None:
    """Set what a session needs whatever its role sets, also in the engines that Dagster makes."""
    if not isinstance(connection, extensions.connection):
        return
    if connection.info.dsn_parameters.get("fallback_application_name") == _NAME:
        with connection, connection.cursor() as cursor:
            cursor.execute(queries["configure_dagster_session"].as_string())


@lru_cache(maxsize=1)
def _engine(url: str, token_provider: "PgTokenProvider | None") -> "Engine":
    """Return the connections to a database, the same for all instances of a process."""
    engine = create_pg_engine(
        url,
        token_provider,
        isolation_level="AUTOCOMMIT",
        pool_size=_KEPT,
        max_overflow=-1,
        pool_recycle=_SECONDS_KEPT,
        pool_pre_ping=True,
    )
    _engines.add(engine)
    return engine


def _leave_connections() -> None:
    """Open other connections in a forked child, which would speak over its parent's."""
    for engine in list(_engines):
        engine.dispose(close=False)


os.register_at_fork(after_in_child=_leave_connections)
