"""Connections whose request stays half sent: they are closed, as each holds a place that others need."""

import asyncio
from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SECONDS_OF_A_HEAD: Final = 10.0
"""Seconds from a connection, or from the first byte of a further request, to the end of its headers."""
SECONDS_OF_SILENCE: Final = 60.0
"""Seconds between two pieces of a body."""
_LOOKS: Final = 10
"""Looks at a connection within the shorter time."""
_TIMED_OUT: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"

if TYPE_CHECKING:
    _Protocol: Any = asyncio.Protocol
else:
    _Protocol = AutoHTTPProtocol


class ImpatientProtocol(_Protocol):  # type: ignore[misc] # uvicorn chooses the parser, httptools or h11
    """The protocol of uvicorn, which by itself waits for ever for the rest of a request."""

    head_seconds, silent_seconds = SECONDS_OF_A_HEAD, SECONDS_OF_SILENCE

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._heard_at = self.loop.time()
        self._head_since: float | None = self._heard_at
        self._look_again()

    def data_received(self, data: bytes) -> None:
        """Note that the client goes on."""
        self._heard_at = self.loop.time()
        if self._is_between_requests and self._head_since is None:
            self._head_since = self._heard_at
        super().data_received(data)
        if not self._is_between_requests:
            self._head_since = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._timer.cancel()
        super().connection_lost(exc)

    @property
    def _is_between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _look_again(self) -> None:
        self._timer = self.loop.call_later(min(self.head_seconds, self.silent_seconds) / _LOOKS, self._look)

    def _look(self) -> None:
        now = self.loop.time()
        if self._head_since is not None and now - self._head_since > self.head_seconds:
            self.transport.write(_TIMED_OUT)
            self.transport.close()
        elif not self._is_between_requests and self._is_silent(now):
            self.transport.close()
        else:
            self._look_again()

    def _is_silent(self, now: float) -> bool:
        """Return whether the rest of a body does not come, although the server reads."""
        return bool(self.cycle.more_body and not self.flow.read_paused and now - self._heard_at > self.silent_seconds)
