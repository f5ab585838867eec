"""A cache of the values used last: vectors of queries, scores of reranked passages."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class RecentCache(Generic[Key, Value]):
    """Values by key, the least recently used forgotten first. Thread-safe."""

    def __init__(self, capacity: int) -> None:
        """Make an empty cache of at most `capacity` values, at least 1."""
        self._capacity = max(capacity, 1)
        self._lock = Lock()
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._pending: dict[Key, Future[Value]] = {}
        self._hits = 0
        self._misses = 0

    @property
    def hits(self) -> int:
        """Number of values that `get_or_compute` returned without computing, those of other threads included."""
        return self._hits

    @property
    def misses(self) -> int:
        """Number of computations that `get_or_compute` began, failed ones included."""
        return self._misses

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self._values)

    def get(self, key: Key) -> Value | None:
        """Return the value of a key; None where it is not known."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def add(self, key: Key, value: Value) -> None:
        """Keep the value of a key."""
        with self._lock:
            self._keep(key, value)

    def get_or_compute(self, key: Key, compute: Callable[[], Value]) -> Value:
        """Return the value of a key, computed once however many threads ask for it at the same time.

        Args:
            key: identifies the value.
            compute: called where the value is not known. Every thread that waits for it receives its error, and the
                next call computes again.
        """
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
                self._hits += 1
                return value
            pending = self._pending.get(key)
            if pending is not None:
                self._hits += 1
            else:
                self._misses += 1
                future: Future[Value] = Future()
                self._pending[key] = future
        return pending.result() if pending is not None else self._compute(key, future, compute)

    def _compute(self, key: Key, future: "Future[Value]", compute: Callable[[], Value]) -> Value:
        try:
            value = compute()
        except BaseException as error:
            with self._lock:
                del self._pending[key]
            future.set_exception(error)
            raise
        with self._lock:
            del self._pending[key]
            self._keep(key, value)
        future.set_result(value)
        return value

    def _keep(self, key: Key, value: Value) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._capacity:
            self._values.popitem(last=False)
