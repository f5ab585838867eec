"""Connections of a browser's proxy through a further proxy."""

import asyncio
import ssl
from typing import Final

from sourcebook.web.browser.proxy_head import read_head
from sourcebook.web.fetching.proxies import Proxy, refusal_of_proxy

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
