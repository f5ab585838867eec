"""The sockets of a client, which can be ended from another thread: a timeout of reads is none of a whole answer."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Timer
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    import httpx2


class Sockets:
    """Notes the connections that requests open. Thread-safe."""

    def __init__(self) -> None:
        self._streams: WeakSet[Any] = WeakSet()
        self._lock = Lock()
        self._has_ended = False

    def watch(self, request: "httpx2.Request") -> None:
        """Note the connections of a request; a hook that the client calls before it."""
        request.extensions["trace"] = self._traced

    @contextmanager
    def within(self, seconds: float) -> Iterator[Event]:
        """End every connection where the block takes longer; other requests that are under way fail with it.

        Args:
            seconds: longest time.

        Yields:
            The event that is set where it took longer.
        """
        expired = Event()

        def end() -> None:
            expired.set()
            self._end_all()

        timer = Timer(max(seconds, 0.0), end)
        timer.daemon = True
        timer.start()
        try:
            yield expired
        finally:
            timer.cancel()

    def _traced(self, name: str, told: dict[str, Any]) -> None:
        stream = told.get("return_value")
        if name.endswith(".complete") and hasattr(stream, "get_extra_info"):
            with self._lock:
                self._streams.add(stream)
                is_late = self._has_ended
            if is_late:
                self._end_all()

    def end(self) -> None:
        """End every connection, and those that are opened from now on; their requests fail."""
        with self._lock:
            self._has_ended = True
        self._end_all()

    def _end_all(self) -> None:
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            with suppress(OSError):  # it has ended already
                opened = stream.get_extra_info("socket")
                if opened is not None:
                    opened.shutdown(socket.SHUT_RDWR)
