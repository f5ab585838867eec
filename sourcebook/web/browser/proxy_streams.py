"""Copying and ending the streams of a proxy's connections."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from sourcebook.web.browser.proxy_head import read_head
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
        TooManyBytesError: The stream has more bytes than `limit`.
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
