"""Sizes, times and encodings that a response must keep to."""

import asyncio
import gc
import gzip
import os
import time
import tracemalloc
import zlib

import brotli  # type: ignore[import-untyped]
import pytest
from aiohttp import web
from backports import zstd

from sourcebook.web.http_types import Response
from tests.integration.web.fetching import PAGE, failure, fetch, flags
from tests.web_server import WebServer


@pytest.mark.parametrize("extra", [0, 1])
def test_max_bytes_is_exact(server: WebServer, extra: int) -> None:
    """A body of exactly the limit is a page; one byte more is a failure that names the setting."""
    server.page("/a", bytes(10_000 + extra))
    if not extra:
        assert len(fetch(server, "/a", max_bytes=10_000).body) == 10_000
        return
    error = failure(server, "/a", max_bytes=10_000)
    assert "max_bytes" in str(error)
    assert flags(error) == (False, False)


def test_a_stream_without_end_ends_at_max_bytes(server: WebServer) -> None:
    """Also where no Content-Length announces it."""
    server.endless("/a")
    assert "max_bytes" in str(failure(server, "/a", max_bytes=1_000_000))


@pytest.mark.alone
def test_a_30_megabyte_page_is_refused_before_it_is_read(server: WebServer) -> None:
    """What announces that it is too large is not downloaded."""
    server.huge("/a")
    begin = time.monotonic()
    assert "30,0" in str(failure(server, "/a", max_bytes=20_000_000))
    assert time.monotonic() - begin < 2


@pytest.mark.alone
@pytest.mark.parametrize("path", ["/drip", "/silent"])
def test_a_slow_response_ends_at_the_timeout(server: WebServer, path: str) -> None:
    """A byte now and then does not keep us waiting; without any answer it is the host that failed."""
    server.slow_drip("/drip")

    async def silent(_: web.BaseRequest) -> str:
        await asyncio.sleep(5)  # longer than the timeout
        return PAGE

    server.route("/silent", silent)
    begin = time.monotonic()
    error = failure(server, path, timeout="0.5s")
    assert 0.4 < time.monotonic() - begin < 2
    assert "within 0.5 seconds" in str(error)
    assert flags(error) == (True, path == "/silent")


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(PAGE.encode(), mtime=0)),
        ("x-gzip", gzip.compress(PAGE.encode(), mtime=0)),
        ("GZIP", gzip.compress(PAGE[:9].encode(), mtime=0) + gzip.compress(PAGE[9:].encode(), mtime=0)),
        ("gzip", gzip.compress(PAGE.encode(), mtime=0) + bytes(100)),
        ("deflate", zlib.compress(PAGE.encode())),
        ("deflate", zlib.compress(PAGE.encode(), wbits=-15)),
        ("identity", PAGE.encode()),
        ("br", brotli.compress(PAGE.encode())),
        ("zstd", zstd.compress(PAGE.encode())),
        ("zstd", zstd.compress(PAGE[:9].encode()) + zstd.compress(PAGE[9:].encode())),
    ],
)
def test_packed_bodies_are_unpacked(server: WebServer, encoding: str, body: bytes) -> None:
    """gzip and zstd in one or several members, deflate with or without its header, Brotli."""
    server.packed("/a", body, encoding=encoding)
    assert fetch(server, "/a").body == PAGE.encode()


def test_an_empty_packed_body_is_empty(server: WebServer) -> None:
    """Servers say gzip for nothing at all."""
    server.packed("/a", b"")
    assert fetch(server, "/a").body == b""


def test_a_bomb_is_stopped_at_the_limit(server: WebServer) -> None:
    """300 MB out of 300 KB: no more than max_bytes are ever unpacked."""
    server.gzip_bomb("/a", 300_000_000)
    error = failure(server, "/a", max_bytes=2_000_000)
    assert "unpack to more than the site's request.max_bytes allows (2,000,000)" in str(error)
    assert not error.transient


@pytest.mark.parametrize("encoding", ["br", "zstd"])
def test_large_bodies_of_every_encoding_come_whole(server: WebServer, encoding: str) -> None:
    """Over many chunks, up to exactly the limit; one byte more is a failure."""
    content = os.urandom(300_000) + bytes(700_000)
    server.packed("/a", _packed(encoding, content), encoding=encoding)
    assert fetch(server, "/a", max_bytes=len(content)).body == content
    assert "unpack to more" in str(failure(server, "/a", max_bytes=len(content) - 1))


@pytest.mark.parametrize("encoding", ["br", "zstd"])
def test_a_bomb_of_a_newer_encoding_is_stopped_at_the_limit(server: WebServer, encoding: str) -> None:
    """Memory does not grow by what 100 MB of zeros would need."""
    server.packed("/a", _packed(encoding, bytes(100_000_000)), encoding=encoding)
    tracemalloc.start()
    try:
        error = failure(server, "/a", max_bytes=2_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "unpack to more than the site's request.max_bytes allows (2,000,000)" in str(error)
    assert not error.transient
    assert peak < 40_000_000


def test_a_window_larger_than_the_web_allows_is_refused(server: WebServer) -> None:
    """RFC 9659: a zstd body needs no more than 8 MB of window; a larger one would take that memory at once."""
    options: dict[int, int] = {zstd.CompressionParameter.window_log: 27, zstd.CompressionParameter.content_size_flag: 0}
    packer = zstd.ZstdCompressor(options=options)
    server.packed("/a", packer.compress(b"<p>small</p>") + packer.flush(), encoding="zstd")
    assert "not valid zstd" in str(failure(server, "/a"))


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", PAGE.encode()),
        ("br", PAGE.encode()),
        ("zstd", PAGE.encode()),
        ("deflate", b"\xff\xff" + PAGE.encode()),
        ("gzip", gzip.compress(bytes(9999), mtime=0)[:15] + bytes(99)),
    ],
)
def test_an_encoding_that_lies_is_told(server: WebServer, encoding: str, body: bytes) -> None:
    """What does not unpack is not taken for a page."""
    server.packed("/a", body, encoding=encoding)
    error = failure(server, "/a")
    assert f"not valid {encoding}" in str(error)
    assert flags(error) == (False, False)


@pytest.mark.parametrize("encoding", ["dcz", "gzip, gzip", "compress"])
def test_an_encoding_that_was_not_asked_for_is_told(server: WebServer, encoding: str) -> None:
    """Only what has a bound can be unpacked."""
    server.packed("/a", b"whatever", encoding=encoding)
    error = failure(server, "/a")
    assert f"packed as '{encoding}'" in str(error)
    assert not error.transient


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
def test_a_truncated_packed_body_is_no_page(server: WebServer, encoding: str) -> None:
    """Half a page is not stored for a whole one."""
    server.packed("/a", _packed(encoding, os.urandom(5000))[:-20], encoding=encoding)
    error = failure(server, "/a")
    assert "ends before its end" in str(error)
    assert flags(error) == (True, False)


def test_an_encoding_in_strange_bytes_is_told_in_plain_ones(server: WebServer) -> None:
    """A reason can always be stored: no half characters."""
    server.raw("/a", b"HTTP/1.1 200 OK\r\nContent-Encoding: gz\xeep\r\nContent-Length: 2\r\n\r\nok")
    assert str(failure(server, "/a")).isascii()


def test_a_body_is_gone_when_nobody_needs_it(server: WebServer) -> None:
    """Memory does not wait for a garbage collection: pages may have 20 MB."""
    server.page("/a", PAGE)
    gc.collect()
    gc.disable()
    try:
        fetch(server, "/a")
        assert [thing for thing in gc.get_objects() if type(thing) is Response] == []
    finally:
        gc.enable()


def _packed(encoding: str, content: bytes) -> bytes:
    if encoding == "br":
        return bytes(brotli.compress(content, quality=5))
    return zstd.compress(content) if encoding == "zstd" else gzip.compress(content)
