"""Dagster's storage in PostgreSQL with connections that are kept, for every process that reads `dagster.yaml`.

Dagster's own storage opens a connection for each statement: fifteen a second for an idle `sourcebook up`, most of whose
processor time they took, and some hundreds for a run.
"""

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Self
from weakref import WeakSet

from dagster_postgres.storage import DagsterPostgresStorage
from dagster_postgres.utils import create_pg_engine, get_token_provider_from_config, pg_url_from_config

if TYPE_CHECKING:
    from dagster_postgres.auth import PgTokenProvider
    from sqlalchemy.engine import Engine

_KEPT: Final = 2
"""Connections that a process keeps; further ones are opened where threads need them at once, and closed after use."""
_SECONDS_KEPT: Final = 300
"""Age in seconds from which a connection is not used again: a balancer may have dropped it without a word."""
_ALIVE: Final = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 15_000}
"""TCP's signs of life: a wait for a server whose machine is gone ends after 25 s."""
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
        super().__init__(postgres_url, looks, inst_data, token_provider)
        if looks:
            _with_tables.add(postgres_url)
        self.should_autocreate_tables = should_autocreate_tables
        engine = _engine(postgres_url, token_provider)
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
        connect_args=_ALIVE,
    )
    _engines.add(engine)
    return engine


def _leave_connections() -> None:
    """Open other connections in a forked child, which would speak over its parent's."""
    for engine in list(_engines):
        engine.dispose(close=False)


os.register_at_fork(after_in_child=_leave_connections)
