"""Half-sent requests are closed, and whoever sends a whole one, however slowly its body comes, is answered."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

import pytest
import uvicorn

from sourcebook.server.half_requests import ImpatientProtocol
from tests.waiting import wait_until

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"


class Impatient(ImpatientProtocol):
    head_seconds, silent_seconds = 1.0, 3.0


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Read the body, take longer than any limit, and send it back."""
    body, is_whole = b"", False
    while not is_whole:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message.get("body", b"")
        is_whole = not message.get("more_body", False)
    await asyncio.sleep(3.5 if body == b"slow" else 0)  # the answer under test is slow
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def served() -> Iterator[int]:
    config = uvicorn.Config(app, port=0, http=Impatient, lifespan="off", ws="none", log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with served() as port:
        yield port


def all_answered(connection: socket.socket) -> bytes:
    """Return what comes until the server closes the connection."""
    found = b""
    while piece := connection.recv(4096):
        found += piece
    return found


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n", HEAD + b"abc"])
def test_a_half_request_is_closed(port: int, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(sent)
        answer = all_answered(connection)
    assert answer.startswith(b"HTTP/1.1 408 ") or (sent.startswith(HEAD) and answer == b"")


def test_headers_that_trickle_are_no_progress(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        connection.settimeout(0.1)
        answer, lines = b"", 0
        while not answer and lines < 600:
            lines += 1
            try:
                connection.sendall(b"X-Line: x\r\n")
                answer = connection.recv(4096)
            except TimeoutError:
                continue
            except ConnectionError:
                break
        assert lines < 600


def test_a_slow_body_a_slow_answer_and_a_second_request_are_no_half_requests(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(HEAD)
        for piece in (b"s", b"l", b"o", b"w"):  # together longer than the limit of a head
            time.sleep(0.3)  # the pause of a slow client
            connection.sendall(piece)
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
    client = HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(2):
        client.request("POST", "/", b"abcd")
        assert client.getresponse().read() == b"abcd"
    client.close()
