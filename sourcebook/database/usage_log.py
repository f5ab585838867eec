"""Use of models by searches of this process that waits to be written, and the writing of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from threading import Lock

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.model.usage import Use

_Key = tuple[date, str, str, str, str]
"""Day in UTC, collection, provider, model and operation."""


@dataclass(slots=True)
class _Sum:
    texts: int = 0
    cached: int = 0
    tokens: int | None = 0
    seconds: float = 0.0
    sound_seconds: float = 0.0
    processor_seconds: float | None = 0.0
    answer_tokens: int | None = 0

    def add(self, other: "Use | _Sum") -> None:
        """Add a use; tokens, and processor time, that one of the two does not know are unknown afterwards."""
        self.texts += other.texts
        self.cached += other.cached
        self.tokens = None if self.tokens is None or other.tokens is None else self.tokens + other.tokens
        self.seconds += other.seconds
        self.sound_seconds += other.sound_seconds
        known, more = self.processor_seconds, other.processor_seconds
        self.processor_seconds = None if known is None or more is None else known + more
        read, written = self.answer_tokens, other.answer_tokens
        self.answer_tokens = None if read is None or written is None else read + written


class UsageLog:
    """Sums of uses that wait to be written. Thread-safe; adding one takes microseconds and no connection."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: dict[_Key, _Sum] = {}

    @property
    def is_stored(self) -> bool:
        """Whether nothing waits."""
        return not self._waiting

    def add(self, use: Use) -> None:
        """Add a use, of today."""
        key = _key(use)
        with self._lock:
            self._waiting.setdefault(key, _Sum()).add(use)

    def store(self, connection: Connection) -> None:
        """Write what waits. Where writing fails, it waits for the next call."""
        with self._lock:
            taken, self._waiting = self._waiting, {}
        if not taken:
            return
        try:
            _write(connection, taken)
        except BaseException:
            with self._lock:
                for key, each in taken.items():
                    self._waiting.setdefault(key, _Sum()).add(each)
            raise


def store_uses(connection: Connection, uses: Iterable[Use]) -> None:
    """Add uses of today to the ledger, in the transaction of the connection where there is one."""
    sums: dict[_Key, _Sum] = {}
    for use in uses:
        sums.setdefault(_key(use), _Sum()).add(use)
    if sums:
        _write(connection, sums)


def _key(use: Use) -> _Key:
    return datetime.now(UTC).date(), use.collection, use.provider, use.model, use.operation


def _write(connection: Connection, sums: dict[_Key, _Sum]) -> None:
    keys = sorted(sums)  # one order in all processes, so that none waits in a circle
    days, collections, providers, models, operations = (list(column) for column in zip(*keys, strict=True))
    connection.execute(
        queries["add_usage"],
        {
            "days": days,
            "collections": collections,
            "providers": providers,
            "models": models,
            "operations": operations,
            "texts": [sums[key].texts for key in keys],
            "cached": [sums[key].cached for key in keys],
            "tokens": [sums[key].tokens for key in keys],
            "seconds": [sums[key].seconds for key in keys],
            "sound_seconds": [sums[key].sound_seconds for key in keys],
            "processor_seconds": [sums[key].processor_seconds for key in keys],
            "answer_tokens": [sums[key].answer_tokens for key in keys],
        },
    )
