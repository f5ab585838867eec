"""An open knowledge base: its database, and what its operations share."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from sourcebook.database.location import DatabaseLocation
from sourcebook.model.closing import Closing

if TYPE_CHECKING:
    from psycopg import Connection

    from sourcebook.context.context_cache import ContextCache
    from sourcebook.contract.ask_sessions import AskTurn
    from sourcebook.database.database import Database
    from sourcebook.database.measurement_writer import MeasurementWriter
    from sourcebook.database.pool import ConnectionPool, StatementLimits
    from sourcebook.database.replica import Replica
    from sourcebook.embedding.embedder import QueryEmbedder
    from sourcebook.operations.reading_audit import ReadingAudit
    from sourcebook.parsing.reading_child import ReadingChild
    from sourcebook.search.ranking.state import SearchResources

_SEARCHES_AT_ONCE = 16
"""Keyword legs that run at the same time, at most; further ones wait."""


class Opened(Closing):
    """State that operations share. Thread-safe; what a search needs is made by the first one."""

    folders: Iterable[str | Path] | None = None
    """Folders of this machine that collections of the API may read; those of SOURCEBOOK_FOLDERS where None."""
    is_owners: bool = False
    """Whether who runs this process asks: without such folders, collections of the API may read any of theirs."""
    principals: frozenset[str] | None = None
    """For whom it is asked; None for everything."""
    private_hosts: bool = False
    """Whether collections of the API may have sites of this machine and of its network."""

    def __init__(
        self,
        database: Database,
        *,
        query_embedder: QueryEmbedder | None = None,
        limits: StatementLimits | None = None,
    ) -> None:
        self._database = database
        self._given = query_embedder
        self._limits = limits
        self._lock = threading.Lock()
        self._pool: ConnectionPool | None = None
        self._resources: SearchResources | None = None
        self._writer: MeasurementWriter | None = None
        self._child: ReadingChild | None = None
        self._contexts: ContextCache | None = None
        self._audit: ReadingAudit | None = None
        self.replica: Replica | None = None
        """Replica that searches are sent to, known after the first one."""

    @classmethod
    def connect(
        cls,
        url: str | None = None,
        *,
        home: str | Path | None = None,
        max_connections: int = 16,
        query_embedder: QueryEmbedder | None = None,
        lock_timeout: float | None = None,
        statement_timeout: float | None = None,
    ) -> Self:
        """Open a knowledge base.

        Args:
            url: a PostgreSQL URL; without it SOURCEBOOK_DATABASE_URL, else the embedded server of `home`.
            home: the state folder; without it SOURCEBOOK_HOME, else `.sourcebook/` beside the configuration.
            max_connections: the most connections held. A search uses two at once where two are free, else one.
            query_embedder: embeds queries in place of the model of each generation.
            lock_timeout: longest wait of a search for a lock, in seconds; without it 2.
            statement_timeout: longest run of each statement of a search, in seconds; without it
                SOURCEBOOK_STATEMENT_TIMEOUT, else 3.5.

        Raises:
            DatabaseError: there is no knowledge base yet, or its database is out of reach, too old, or lacks pgvector.
            MissingDependencyError: no URL is given and the embedded server is not installed.
        """
        from sourcebook.database.database import Database
        from sourcebook.database.pool import StatementLimits

        limits = StatementLimits.find(lock_timeout, statement_timeout)
        database = Database(DatabaseLocation.existing(url, home), max_connections=max_connections)
        return cls(database, query_embedder=query_embedder, limits=limits)

    @property
    def database(self) -> Database:
        """The knowledge base's database."""
        return self._database

    @property
    def _recording(self) -> ReadingAudit:
        """Recorder of answers, for collections that keep an audit."""
        with self._lock:
            if self._audit is None:
                from sourcebook.operations.reading_audit import ReadingAudit

                self._audit = ReadingAudit(self._writing)
            return self._audit

    def _writing(self) -> AbstractContextManager[Connection]:
        """Lend a connection of the primary: a searching process has one already."""
        return (self._pool or self._database.pool).connection()

    @property
    def _books(self) -> Database:
        """The database that what the library keeps of its own is written to, such as calls of models."""
        return self._database

    def seen_by(self, principals: Iterable[str]) -> Opened:
        """Return this knowledge base as some principals see it; see `KnowledgeBase.seen_by`."""
        raise NotImplementedError

    @property
    def _account(self) -> str:
        """Whose conversations are kept where nobody is named."""
        from sourcebook.model.acting import account

        return account()

    def _turns_of(self, owner: str, session: str) -> list[AskTurn]:
        """Return the turns of a conversation that is kept, the oldest first."""
        from sourcebook.answering.kept_sessions import session_turns

        with self._books.connection() as connection:
            return session_turns(connection, owner, session)

    def close(self) -> None:
        """Close every connection, and stop the embedded server where no other process uses it."""
        self.release()
        self._database.close()

    def release(self) -> None:
        """Release threads and models; the next search takes new ones."""
        with self._lock:
            resources, self._resources = self._resources, None
            pool, self._pool = self._pool, None
            writer, self._writer = self._writer, None
            replica, self.replica = self.replica, None
            child, self._child = self._child, None
        if child is not None:
            child.close()
        if resources is not None:
            resources.executor.shutdown()
            resources.reranker.close()
            resources.vectors.close()
        if writer is not None:
            writer.close()
        for opened in (pool, replica):
            if opened is not None:
                opened.close()

    def _ready(self) -> SearchResources:
        """Return the resources that searches share, made by the first one so that opening costs little."""
        with self._lock:
            if self._resources is None:
                from sourcebook.database.measurement_writer import MeasurementWriter
                from sourcebook.database.usage_log import UsageLog
                from sourcebook.search.query_vectors import QueryVectors
                from sourcebook.search.ranking.reranking.reranker import Reranker
                from sourcebook.search.ranking.state import SearchResources

                if self._pool is None:
                    from sourcebook.database.pool import StatementLimits
                    from sourcebook.database.replica import find_replica

                    limits = self._limits or StatementLimits.find()
                    self.replica = find_replica(self._database, limits)
                    self._pool = self._database.new_pool(self._database.pool.max_size, limits)
                usage = UsageLog()
                self._resources = SearchResources(
                    self._pool,
                    ThreadPoolExecutor(max_workers=_SEARCHES_AT_ONCE, thread_name_prefix="sourcebook-keyword"),
                    QueryVectors(self._database.location.home, self._given, self._database.connection, usage),
                    Reranker(usage),
                    usage=usage,
                )
                self._writer = MeasurementWriter(self._pool, self._resources.query_log, usage)
                self._writer.start()
            return self._resources

    def _made_contexts(self) -> ContextCache:
        """Return the contexts that were made before."""
        with self._lock:
            if self._contexts is None:
                from sourcebook.context.context_cache import ContextCache

                self._contexts = ContextCache()
            return self._contexts

    def _reading_child(self) -> ReadingChild:
        """Return the process that reads originals, begun by the first of them."""
        with self._lock:
            if self._child is None:
                from sourcebook.parsing.reading_child import ReadingChild

                self._child = ReadingChild()
            return self._child
