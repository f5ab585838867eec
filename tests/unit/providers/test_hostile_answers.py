"""Answers that want to exhaust memory, time or patience of a client, or to bring more than words into its errors."""

import gzip
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sourcebook.errors import ModelError
from sourcebook.providers.client import Patience, ProviderClient
from sourcebook.providers.failures import Cure, ProviderError, RequestFailedError, clip, retry_after
from sourcebook.providers.streamed_answer import StreamedAnswer
from tests.provider_server import ProviderServer, Reply
from tests.web_certificate import certificate

KEY = "sk-very-secret-0123456789"
ONCE = Patience(attempts=1, seconds=60, timeout=5, waits_for_breaker=True)
BODY = {"model": "m", "input": ["a"]}
LONG = gzip.compress(b" " * (40 << 20))
PACKED = {"Content-Encoding": "gzip"}


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as server:
        yield server


def post(server: ProviderServer, patience: Patience = ONCE) -> Any:
    client = ProviderClient(server.url, "PROVIDER_KEY", patience)
    try:
        return client.post("/embeddings", BODY, lambda answer: answer)
    finally:
        client.close()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVIDER_KEY", KEY)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(body=b"[" * 200_000), "it is no JSON"),
        (Reply(401, b"[" * 200_000), "refuses the key with status 401"),
        (Reply(401, b"\xff\xfe", content_type="text/plain; charset=idna"), "refuses the key with status 401"),
        (Reply(401, b"<html>Please pay", content_type="text/html"), r"status 401 \(Unauthorized\): "),
        (Reply(401, LONG, PACKED), "refuses the key with status 401"),
        (Reply(401, b"no gzip", PACKED), "refuses the key with status 401"),
        (Reply(200, LONG, PACKED), "an answer of more than 16 MiB"),
        (Reply(200, b"no gzip", PACKED), "breaks the connection"),
        (Reply(200, {"error": {"message": "overloaded", "code": 503}}), r"answers with status 503 \(overloaded\)"),
        (Reply(200, {"error": {"message": f"{KEY} unknown", "code": 401}}), r"\(\*\*\* unknown\): correct the key"),
        (Reply(200, {"error": "no idea"}), r"answers with an error \(no idea\)"),
    ],
    ids=[
        *["deep", "deep-refusal", "charset", "html", "bomb-refusal", "damaged-refusal", "bomb", "damaged"],
        *["gateway", "gateway-key", "gateway-words"],
    ],
)  # fmt: skip
def test_a_hostile_answer_is_one_sentence(server: ProviderServer, reply: Reply, said: str) -> None:
    server.answer = lambda asked: reply
    with pytest.raises(ProviderError, match=said) as refused:
        post(server)
    assert KEY not in str(refused.value)
    assert len(server.asked) == 1


def test_an_answer_that_comes_byte_by_byte_is_given_up(server: ProviderServer) -> None:
    """No read takes as long as the timeout, and yet the whole one ends."""
    server.answer = lambda asked: Reply(body={"data": ["x" * 4_000]}, drip=0.02)
    begun = time.monotonic()
    with pytest.raises(ProviderError, match="does not finish its answer in time"):
        post(server, Patience(attempts=1, seconds=60, timeout=0.1, waits_for_breaker=True))
    assert time.monotonic() - begun < 30  # the answer takes 80


@pytest.mark.parametrize("has_tls", [False, True])
def test_headers_without_end_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_tls: bool) -> None:
    """A search waits no longer than its patience for a server that sends a byte now and then."""
    file = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    stopped = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection = listening.accept()[0]
            if has_tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(file)
                connection = context.wrap_socket(connection, server_side=True)
            with connection, suppress(OSError):
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
                while not stopped.wait(0.05):  # the pace of the trickle
                    connection.sendall(b"x")

        serving = threading.Thread(target=serve, daemon=True)
        serving.start()
        url = f"http{'s' * has_tls}://127.0.0.1:{listening.getsockname()[1]}/v1"
        client = ProviderClient(url, None, Patience(attempts=1, seconds=1, timeout=5, waits_for_breaker=False))
        with pytest.raises(ProviderError, match="does not answer in time"):
            client.post("/embeddings", BODY, lambda answer: answer)
        client.close()
        stopped.set()
        serving.join(60)


def test_a_server_that_asks_for_no_wait_is_not_asked_without_one(server: ProviderServer) -> None:
    server.answer = lambda asked: Reply(429, {}, {"Retry-After": "0"})
    with pytest.raises(ProviderError, match="try again later"):
        post(server, Patience(attempts=4, seconds=1.5, timeout=5, waits_for_breaker=True))
    assert len(server.asked) <= 6


@pytest.mark.parametrize("value", ["9" * 200, "Fri, 31 Dec 9999 23:59:59 +0000"])
def test_a_wait_without_end_is_as_long_as_any(value: str) -> None:
    assert retry_after(None, value) == 1e9


def test_a_providers_words_neither_steer_a_terminal_nor_tell_a_part_of_the_key() -> None:
    assert clip("bad\n\x1b[31mred\x00 \u202edne") == "bad [31mred dne"
    assert clip(f"the key {KEY[:14]}… is wrong", KEY) == "the key ***… is wrong"
    assert clip("short words stay", "short-key") == "short words stay"


def test_an_error_within_a_stream_tells_no_key(server: ProviderServer, caplog: pytest.LogCaptureFixture) -> None:
    def read(answer: StreamedAnswer) -> Iterator[str]:
        yield from ()
        raise RequestFailedError(f"breaks off with an error (no account has {KEY})", Cure.RETRY)

    client = ProviderClient(server.url, "PROVIDER_KEY", Patience(2, 60, timeout=5, waits_for_breaker=True))
    with caplog.at_level("DEBUG"), pytest.raises(ProviderError, match=r"no account has \*\*\*\)") as refused:
        list(client.stream("/chat/completions", BODY, read))
    client.close()
    assert KEY not in str(refused.value) + caplog.text


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("HTTP_PROXY", "ftp://user:hidden-word@proxy", "proxy .* cannot be used"),
        ("SSL_CERT_FILE", "/no/such/file", r"certificates .* cannot be read \(No such file or directory\)"),
        ("PROVIDER_KEY", "sk-hidden-word\x01", "PROVIDER_KEY, .* is no key"),
    ],
)
def test_an_environment_that_cannot_be_used_is_named(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ModelError, match=said) as refused:
        post(server)
    assert "hidden-word" not in str(refused.value)
