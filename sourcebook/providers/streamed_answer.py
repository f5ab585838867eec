"""The answer of a provider as it comes (events or one JSON), and the sockets that end it after a time."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Timer
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from sourcebook.providers.failures import Cure, RequestFailedError, invalid, of_connection, of_content_type

if TYPE_CHECKING:
    import httpx2


MOST_BYTES: Final = 16 << 20
"""Bytes of an answer, at most."""
MOST_EVENT_BYTES: Final = 1 << 20
"""Bytes of one event, at most."""
_EVENTS: Final = "text/event-stream"
_BREAK: Final = re.compile(rb"\r\n|\n|\r(?=[^\n])")
"""Ends of lines; behind a `\\r` at the end of a piece a `\\n` may come with the next one."""
_MARK: Final = b"\xef\xbb\xbf"
"""Byte order mark, which may stand before the first line."""


class StreamedAnswer:
    """An open answer with status 200, whose body has not been read yet."""

    def __init__(self, response: httpx2.Response, deadline: float, most: int = MOST_BYTES) -> None:
        """Prepare; nothing is read.

        Args:
            response: the response, which the caller closes.
            deadline: seconds of `time.monotonic()` at which reading is given up.
            most: bytes of it, at most.
        """
        self._response = response
        self._deadline, self._most = deadline, most
        sent = response.headers.get("content-type", "")
        self._kind = sent.partition(";")[0].strip().lower()

    @property
    def has_events(self) -> bool:
        """Whether it is a stream of events; else it is one JSON.

        Raises:
            RequestFailedError: it is neither, such as the page of a portal.
        """
        if self._kind == _EVENTS:
            return True
        if "json" in self._kind:
            return False
        raise of_content_type(self._kind)

    def json(self) -> object:
        """Return the whole body as a decoded JSON.

        Raises:
            RequestFailedError: it is none, is too large, does not come in time, or breaks off.
        """
        if "json" not in self._kind:
            raise of_content_type(self._kind)
        return _decoded(b"".join(self._pieces()))

    def events(self) -> Iterator[str]:
        """Yield the data of each event.

        Raises:
            RequestFailedError: an event is too large or no UTF-8, does not come in time, or the connection breaks.
        """
        data: list[bytes] = []
        size = 0
        for line in self._lines():
            if not line:
                if data:
                    yield _text(b"\n".join(data))
                data, size = [], 0
            elif line.startswith(b"data:"):
                value = line[5:].removeprefix(b" ")
                data.append(value)
                size += len(value)
                if size > MOST_EVENT_BYTES:
                    raise RequestFailedError("sends an event of more than 1 MiB", Cure.NONE)
        if data:
            yield _text(b"\n".join(data))

    def _lines(self) -> Iterator[bytes]:
        rest, mark = b"", _MARK
        for piece in self._pieces():
            *lines, rest = _BREAK.split(rest + piece)
            for line in lines:
                yield line.removeprefix(mark)
                mark = b""
            if len(rest) > MOST_EVENT_BYTES:
                raise RequestFailedError("sends an event of more than 1 MiB", Cure.NONE)
        if rest:
            yield rest.removesuffix(b"\r").removeprefix(mark)

    def _pieces(self) -> Iterator[bytes]:
        import httpx2

        size = 0
        try:
            for piece in self._response.iter_bytes():
                size += len(piece)
                if size > self._most:
                    raise RequestFailedError(f"sends an answer of more than {self._most >> 20} MiB", Cure.NONE)
                if time.monotonic() > self._deadline:
                    raise RequestFailedError("does not finish its answer in time", Cure.RETRY)
                yield piece
        except httpx2.TimeoutException as error:
            raise of_connection(error, timed_out=True) from None
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            raise of_connection(error, timed_out=False) from None


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise invalid("an event is no UTF-8") from None


def _decoded(data: bytes) -> object:
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        raise invalid("it is no JSON") from None
    return value


class Sockets:
    """Notes the connections that requests open. Thread-safe."""

    def __init__(self) -> None:
        self._streams: WeakSet[Any] = WeakSet()
        self._lock = Lock()
        self._has_ended = False

    def watch(self, request: httpx2.Request) -> None:
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
