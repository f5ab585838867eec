"""A pool of connections that threads share, opened when they are needed; decision 0018."""

import os
import select
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from threading import Condition, Lock
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar

from psycopg import Connection
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus

from sourcebook.database.connecting import SECONDS_OF_RECOVERY, open_connection
from sourcebook.database.failures import NoAnswerError, typed_errors
from sourcebook.database.queries import queries
from sourcebook.database.watch import ServerWatch, within
from sourcebook.errors import ConfigurationError, DatabaseBusyError, DatabaseError

_SECONDS_TO_WAIT: Final = 3.5
"""Seconds that a search waits for a connection that another thread uses."""
_SECONDS_OF_LIFE: Final = 3600.0
"""Age at which a connection is replaced: its process in the server remembers every table that it has touched."""
_SECONDS_IDLE: Final = 600.0
"""Seconds after which an unused connection is closed."""
_LOCK_SECONDS: Final = 2.0
_STATEMENT_SECONDS: Final = 3.5
_MOST_SECONDS: Final = 86_400.0
"""Longest limit of a statement."""
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class StatementLimits:
    """Limits of each statement, in seconds."""

    lock_timeout: float = _LOCK_SECONDS
    """Longest wait for a lock."""
    statement_timeout: float = _STATEMENT_SECONDS
    """Longest run of a statement."""

    @classmethod
    def find(cls, lock_timeout: float | None = None, statement_timeout: float | None = None) -> Self:
        """Return the given limits; SOURCEBOOK_STATEMENT_TIMEOUT stands in for a missing one of statements.

        Raises:
            ConfigurationError: a limit is not a number above 0.
        """
        variable = "SOURCEBOOK_STATEMENT_TIMEOUT"
        statement = os.environ.get(variable) if statement_timeout is None else statement_timeout
        return cls(_limit("lock_timeout", lock_timeout, _LOCK_SECONDS), _limit(variable, statement, _STATEMENT_SECONDS))

    @property
    def no_answer(self) -> float:
        """Seconds without an answer after which the server counts as gone."""
        return self.statement_timeout + 0.5

    def apply(self, connection: "PooledConnection") -> None:
        """Set the limits for a connection."""
        connection.seconds_to_answer = self.no_answer
        connection.execute(
            queries["limit_statements"],
            {"lock": f"{round(self.lock_timeout * 1000)}ms", "statement": f"{round(self.statement_timeout * 1000)}ms"},
        )


class PooledConnection(Connection[tuple[Any, ...]]):
    """A connection that gives up a server that does not answer, such as one that is stopped."""

    seconds_to_answer: float | None = None
    """Limit of each statement on the client's side; None for none."""
    watch: ServerWatch | None = None
    """Watch over the server, which ends the wait for one that answers nobody."""
    opened_at: float = 0.0
    used_at: float = 0.0
    was_given_up: bool = False

    def wait(self, gen: PQGen[Answer], *args: Any, **options: Any) -> Answer:
        """Wait for the server's answer."""
        watch = self.watch if self.watch is not None and self.watch.is_on else None
        if self.seconds_to_answer is None and watch is None:
            return super().wait(gen, *args, **options)
        tick = None if watch is None else watch.follow(self.pgconn.backend_pid)
        try:
            return super().wait(within(gen, self.seconds_to_answer, tick), *args, **options)
        except NoAnswerError:
            self.was_given_up = True
            self.close()  # its statement may be answered later
            raise

    def is_usable(self, now: float) -> bool:
        """Whether the connection is young, and the server has not ended it: asked of the system, not of the server."""
        if self.closed or now - self.opened_at > _SECONDS_OF_LIFE:
            return False
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        return not poll.poll(0)  # an idle server has nothing to say but its end


class ConnectionPool:
    """Connections in autocommit mode, each lent to one thread at a time, in the order of asking.

    No thread opens connections ahead or waits between attempts: a caller opens the connection that it lacks, and gets
    the reason where that fails. Callers that wait meanwhile fail with the same reason instead of one after the other.

    Args:
        url: PostgreSQL URL.
        max_size: most connections lent at the same time.
        configure: called with every new connection.
        limits: limits of statements, and of the wait for a connection; None for neither.
        revive: called where the server cannot be reached, before the second and last attempt.
        watch: watch over the server; None for none.
        prepare: called with every connection that is lent, unless the borrower brings another.
    """

    def __init__(
        self,
        url: str,
        max_size: int,
        *,
        configure: Callable[[Connection], None],
        limits: StatementLimits | None = None,
        revive: Callable[[], None] | None = None,
        watch: ServerWatch | None = None,
        prepare: Callable[[Connection], object] | None = None,
    ) -> None:
        self.max_size = max_size
        self.check_outs = 0
        """Number of connections lent so far."""
        self.lent = 0
        """Number of connections lent now."""
        self._url = url
        self._configure = configure
        self._limits = limits
        self._revive = revive
        self._watch = watch
        self._prepare = prepare
        self._lock = Lock()
        self._idle: deque[PooledConnection] = deque()
        self._waiting: deque[Condition] = deque()
        self._failure: tuple[float, DatabaseError] | None = None
        self._closed = False

    @contextmanager
    def connection(self, prepare: Callable[[Connection], object] | None = None) -> Iterator[Connection]:
        """Lend a connection, after waiting for a free one.

        Args:
            prepare: called with it before it is lent.

        Raises:
            DatabaseError: no connection can be opened, or a statement failed.
            DatabaseBusyError: no connection is free within the limit.
        """
        began = time.monotonic()
        idle = self._take(began)
        with self._lending(idle, began, prepare) as connection:
            yield connection

    @contextmanager
    def spare_connection(self, prepare: Callable[[Connection], object] | None = None) -> Iterator[Connection | None]:
        """Lend a further connection without waiting; None where every connection is lent or waited for.

        Callers that hold a connection use this one: if they waited for each other's, none would ever go on.
        """
        with self._lock:
            is_free = self.lent + len(self._waiting) < self.max_size
            if is_free:
                idle = self._lend()
        if not is_free:
            yield None
            return
        with self._lending(idle, time.monotonic(), prepare) as connection:
            yield connection

    def hold(self) -> "HeldConnection":
        """Return a context manager that holds a connection, and can give it back for a while."""
        return HeldConnection(self)

    def close(self) -> None:
        """Close the idle connections, and every other one when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = list(self._idle), deque()
        for connection in idle:
            connection.close()

    def _take(self, began: float) -> PooledConnection | None:
        """Wait for the turn of this caller; return an idle connection, None where one must be opened."""
        if self._watch is not None:
            self._watch.check()
        limit = _SECONDS_TO_WAIT if self._limits is not None else None
        with self._lock:
            if self.lent >= self.max_size or self._waiting:
                turn = Condition(self._lock)
                self._waiting.append(turn)
                try:
                    mine = turn.wait_for(lambda: self._waiting[0] is turn and self.lent < self.max_size, limit)
                finally:
                    self._waiting.remove(turn)
                    self._wake()
                if not mine:
                    raise DatabaseBusyError(
                        f"every connection to the database is in use: the {self.max_size} allowed by max_connections",
                        remedy="retry later, or raise it",
                    )
            return self._lend()

    def _lend(self) -> PooledConnection | None:
        self.lent += 1
        self.check_outs += 1
        idle = self._idle.pop() if self._idle else None
        self._wake()
        return idle

    def _wake(self) -> None:
        if self._waiting and self.lent < self.max_size:
            self._waiting[0].notify()

    @contextmanager
    def _lending(
        self, idle: PooledConnection | None, began: float, prepare: Callable[[Connection], object] | None
    ) -> Iterator[Connection]:
        """Lend a connection that is counted already."""
        prepare = prepare or self._prepare
        connection: PooledConnection | None = None
        try:
            connection = self._usable(idle, began)
            with typed_errors():
                if prepare is not None:
                    prepare(connection)
                yield connection
        finally:
            self._give_back(connection)

    def _usable(self, idle: PooledConnection | None, began: float) -> PooledConnection:
        while idle is not None:
            if idle.is_usable(time.monotonic()):
                return idle
            idle.close()
            with self._lock:
                idle = self._idle.pop() if self._idle else None
        failure = self._failure
        if failure is not None and failure[0] >= began:
            raise failure[1]
        try:
            return self._open()
        except DatabaseError as error:
            self._failure = (time.monotonic(), error)
            raise

    def _open(self) -> PooledConnection:
        limits = self._limits
        recovery = SECONDS_OF_RECOVERY if limits is None else limits.lock_timeout
        connection = open_connection(PooledConnection, self._url, revive=self._revive, recovery=recovery)
        connection.watch = self._watch
        try:
            with typed_errors():
                if limits is not None:
                    connection.seconds_to_answer = limits.no_answer
                self._configure(connection)
                if limits is not None:
                    limits.apply(connection)
        except BaseException:
            connection.close()
            raise
        connection.opened_at = time.monotonic()
        return connection

    def _give_back(self, connection: PooledConnection | None) -> None:
        now = time.monotonic()
        doomed: list[PooledConnection] = []
        with self._lock:
            self.lent -= 1
            if connection is not None:
                connection.used_at = now
                is_idle = connection.pgconn.transaction_status == TransactionStatus.IDLE
                (self._idle if is_idle and not self._closed else doomed).append(connection)
                if connection.was_given_up:  # the others are sessions of the same server
                    doomed.extend(self._idle)
                    self._idle.clear()
            while self._idle and now - self._idle[0].used_at > _SECONDS_IDLE:
                doomed.append(self._idle.popleft())
            self._wake()
        for each in doomed:
            each.close()


class Connections(Protocol):
    """Connections that threads share."""

    @property
    def check_outs(self) -> int:
        """Number of connections lent so far."""

    @property
    def lent(self) -> int:
        """Number of connections lent now."""

    def connection(self) -> AbstractContextManager[Connection]:
        """Lend a connection, after waiting for a free one."""

    def spare_connection(self) -> AbstractContextManager[Connection | None]:
        """Lend a further connection without waiting; None where every connection is lent or waited for."""

    def hold(self) -> "HeldConnection":
        """Return a context manager that holds a connection, and can give it back for a while."""


class HeldConnection:
    """A connection that its holder gives back for a while when it waits for something else, such as a model."""

    def __init__(self, pool: Connections) -> None:
        self._pool = pool
        self._lent = ExitStack()
        self.connection: Connection
        """The connection, in autocommit mode; another one after `given_back`."""

    def __enter__(self) -> Self:
        self.connection = self._lent.enter_context(self._pool.connection())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lent.__exit__(kind, error, traceback)

    @contextmanager
    def given_back(self) -> Iterator[None]:
        """Give the connection back for the length of the block."""
        self._lent.close()
        yield
        self.connection = self._lent.enter_context(self._pool.connection())


def _limit(name: str, given: str | float | None, default: float) -> float:
    text = "" if given is None else str(given)
    try:
        seconds = float(text) if text else default
    except ValueError:
        seconds = 0.0
    if not 0.001 <= seconds <= _MOST_SECONDS:
        raise ConfigurationError(f"{name} is {text}: give the seconds that a search may take, such as 4")
    return seconds
