"""The connections of a browser's proxy: heads of messages, copying and ending of streams, further proxies."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, Self

from sourcebook.web.fetching.proxies import Proxy, refusal_of_proxy

_CHUNK_BYTES: Final = 64 * 1024
_END_SECONDS: Final = 5.0
"""Seconds for the buffer of a connection to be flushed at its end."""
_LISTEN_SECONDS: Final = 0.25
"""Seconds between two looks whether a client is still connected."""


class TooManyBytesError(ConnectionAbortedError):
    """A stream that has more bytes than its limit."""


async def copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int, keep_alive: Callable[[], None]
) -> None:
    """Copy a stream to its end, and call `keep_alive` after each piece.

    Raises:
        TooManyBytesError: the stream has more bytes than `limit`.
    """
    while chunk := await reader.read(_CHUNK_BYTES):
        limit -= len(chunk)
        if limit < 0:
            raise TooManyBytesError("more bytes than a connection may take")
        writer.write(chunk)
        await writer.drain()
        keep_alive()


async def copy_exactly(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int, keep_alive: Callable[[], None]
) -> None:
    """Copy `length` bytes, and call `keep_alive` after each piece.

    Raises:
        EOFError: the stream ends before.
    """
    while length > 0:
        chunk = await reader.read(min(length, _CHUNK_BYTES))
        if not chunk:
            raise EOFError
        length -= len(chunk)
        writer.write(chunk)
        await writer.drain()
        keep_alive()


async def read_to_end(reader: asyncio.StreamReader) -> None:
    """Read a stream to its end and drop what comes."""
    while await reader.read(_CHUNK_BYTES):
        pass


async def until_first(*work: Coroutine[Any, Any, None]) -> None:
    """Run coroutines until one of them ends; then cancel the others."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def while_connected(permission: Awaitable[None], client: asyncio.StreamReader) -> None:
    """Wait for a permission while the client stays connected.

    Raises:
        EOFError: the client has left.
    """
    waiting = asyncio.ensure_future(permission)
    try:
        while not (await asyncio.wait([waiting], timeout=_LISTEN_SECONDS))[0]:
            if client.at_eof() or client.exception() is not None:
                raise EOFError
        waiting.result()
    finally:
        waiting.cancel()


@asynccontextmanager
async def closing(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    """Close a connection at the end, after its buffer is flushed."""
    try:
        yield
    finally:
        writer.close()
        try:
            with suppress(OSError):
                async with asyncio.timeout(_END_SECONDS):
                    await writer.wait_closed()
        finally:
            writer.transport.abort()


def reset(writer: asyncio.StreamWriter) -> None:
    """Reset a connection, so that the other side sees an error."""
    with suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_CONNECTED: Final = 200
_UNREADABLE: Final = 502


async def open_proxy(proxy: Proxy) -> Streams:
    """Connect to a proxy; its address is not checked, because the settings or the environment name it.

    Raises:
        OSError: it cannot be reached.
    """
    tls = ssl.create_default_context() if proxy.scheme == "https" else None
    return await asyncio.open_connection(proxy.host, proxy.port, ssl=tls)


async def open_tunnel(proxy: Proxy, host: str, port: int) -> Streams:
    """Connect to a host through a proxy.

    Raises:
        FetchError: the proxy does not connect to it.
        OSError: the proxy cannot be reached.
    """
    reader, writer = await open_proxy(proxy)
    try:
        target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}", *proxy_fields(proxy)]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("ascii"))
        await writer.drain()
        status = await _status(reader)
    except BaseException:
        writer.close()
        raise
    if status != _CONNECTED:
        writer.close()
        raise refusal_of_proxy(proxy, host, status)
    return reader, writer


def proxy_fields(proxy: Proxy) -> list[str]:
    """Return the header fields that a proxy wants."""
    return [] if proxy.authorization is None else [f"Proxy-Authorization: {proxy.authorization}"]


async def _status(reader: asyncio.StreamReader) -> int:
    try:
        return int((await read_head(reader)).first.split(" ")[1])
    except (ValueError, EOFError, IndexError):
        return _UNREADABLE


HEAD_BYTES: Final = 60 * 1024
"""Limit on the bytes of a head: more than browsers and servers send, and below the limit of asyncio's streams."""

_OF_ONE_CONNECTION: Final = frozenset(
    {"connection", "keep-alive", "proxy-authorization", "proxy-connection", "upgrade"}
)


@dataclass(frozen=True, slots=True)
class Head:
    """First line and header fields, decoded as Latin-1 to keep their bytes."""

    first: str
    fields: Sequence[tuple[str, str]]
    """Names in lower case, each with its whole line."""

    @classmethod
    def parse(cls, lines: Sequence[str]) -> Self:
        """Parse lines without their ends.

        Raises:
            ValueError: the lines are no HTTP/1 head.
        """
        if not lines or "HTTP/1." not in lines[0]:
            raise ValueError("this is no HTTP/1")
        fields: list[tuple[str, str]] = []
        for line in lines[1:]:
            name, colon, _ = line.partition(":")
            if line[:1] in {" ", "\t"} and fields:  # an obsolete continuation of a value
                fields[-1] = (fields[-1][0], f"{fields[-1][1]} {line.strip()}")
            elif colon:
                fields.append((name.strip().lower(), line))
        return cls(lines[0], fields)

    def request(self) -> tuple[str, str]:
        """Return the method and the target of a request.

        Raises:
            ValueError: the head is no request.
        """
        parts = self.first.split(" ")
        if len(parts) != 3 or not self.first.isascii():
            raise ValueError("this is no request")
        return parts[0], parts[1]

    def body_length(self) -> int:
        """Return the length of a request's body in bytes.

        Raises:
            ValueError: the head names no single length.
        """
        if any(name == "transfer-encoding" for name, _ in self.fields):
            raise ValueError("a request's body needs a length")
        lengths = {line.partition(":")[2].strip() for name, line in self.fields if name == "content-length"} or {"0"}
        length = lengths.pop()
        if lengths or not (length.isascii() and length.isdigit()):
            raise ValueError("a request's body has one length")
        return int(length)

    def asks_for_html(self) -> bool:
        """Whether this is a request for a page, not for a resource of one."""
        return any(name == "accept" and "text/html" in line for name, line in self.fields)

    def asks_for_image(self) -> bool:
        """Whether this is a request for an image, such as the icon of a page."""
        return any(
            name == "accept" and line.partition(":")[2].lstrip().startswith("image/") for name, line in self.fields
        )

    def is_interim(self) -> bool:
        """Whether this is an interim response (1xx)."""
        return self.first.partition(" ")[2].startswith("1")

    def for_one_message(self, first: str) -> bytes:
        """Return the head with another first line and with `Connection: close`."""
        lines = [first, *(line for name, line in self.fields if name not in _OF_ONE_CONNECTION), "Connection: close"]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def read_head(reader: asyncio.StreamReader) -> Head:
    """Read a head and leave the body.

    Raises:
        ValueError: the head exceeds `HEAD_BYTES` or is no HTTP/1.
        EOFError: the connection ended within the head.
    """
    lines: list[str] = []
    size = 0
    while True:
        line = await reader.readline()
        if not line.endswith(b"\n"):
            raise EOFError("the connection ended within a head")
        size += len(line)
        if size > HEAD_BYTES:
            raise ValueError(f"a head is at most {HEAD_BYTES:,} bytes long")
        text = line.rstrip(b"\r\n").decode("latin-1")
        if text or not lines:
            lines.append(text)
        else:
            return Head.parse(lines)
