"""One request to a provider: retries, patience, the breaker, and sentences that never hold the key."""

import logging
import socket
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sourcebook.errors import ModelError
from sourcebook.providers import limits
from sourcebook.providers.client import Patience, ProviderClient
from sourcebook.providers.failures import Cure, ProviderError, RequestFailedError, invalid, retry_after
from tests.provider_server import ProviderServer, Reply
from tests.waiting import wait_until
from tests.web_certificate import certificate

KEY = "sk-very-secret-0123456789"
PATIENT = Patience(attempts=4, seconds=60, timeout=5, waits_for_breaker=True)
BODY = {"model": "m", "input": ["a"]}


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as server:
        yield server


@pytest.fixture
def client(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderClient]:
    monkeypatch.setenv("PROVIDER_KEY", KEY)
    client = ProviderClient(server.url, "PROVIDER_KEY", PATIENT)
    yield client
    client.close()


def post(client: ProviderClient) -> Any:
    return client.post("/embeddings", BODY, lambda answer: answer)


def one_after_the_other(*replies: Reply | None) -> Any:
    number = count()
    return lambda asked: replies[min(next(number), len(replies) - 1)]


@pytest.mark.parametrize(
    "fault",
    [
        Reply(500, b"<html>Oops", content_type="text/html"),
        Reply(503, {"error": {"message": "overloaded"}}),
        Reply(429, {"error": {"message": "slow down"}}, {"Retry-After": "0.05"}),
        Reply(200, {"data": list(range(1000))}, cut=True),
        Reply(200, b'{"data": [', content_type="application/json"),
    ],
    ids=["500", "503", "429", "cut", "half"],
)
def test_what_a_retry_cures_is_tried_again(server: ProviderServer, client: ProviderClient, fault: Reply) -> None:
    server.answer = one_after_the_other(fault, None)
    assert len(post(client)["data"]) == 1
    assert len(server.asked) == 2


def test_a_silent_server_is_given_up_and_asked_again(server: ProviderServer) -> None:
    server.answer = one_after_the_other(Reply(body={}, delay=2), None)
    client = ProviderClient(server.url, None, Patience(4, 60, timeout=0.3, waits_for_breaker=True))
    assert len(post(client)["data"]) == 1
    client.close()


def test_the_only_retries_are_ours(server: ProviderServer, client: ProviderClient) -> None:
    """A request that always fails is sent as often as the patience says: the client's own retries are off."""
    server.answer = lambda asked: Reply(500, {"error": "down"})
    with pytest.raises(ProviderError, match=r"answers with status 500 \(down\), 4 times in a row"):
        post(client)
    assert len(server.asked) == PATIENT.attempts


def test_a_provider_that_asks_to_wait_is_waited_for_and_is_not_faulty(
    server: ProviderServer, client: ProviderClient
) -> None:
    """A 429 is no failure: many of them exhaust no attempts, and each is followed by the pause that it asks for."""
    slow = Reply(429, {}, {"retry-after-ms": "150"})
    server.answer = one_after_the_other(*[slow] * 6, None)
    post(client)
    pauses = [later.at - earlier.at for earlier, later in zip(server.asked, server.asked[1:], strict=False)]
    assert len(pauses) == 6
    assert min(pauses) >= 0.15
    assert not client.is_failing


def test_a_wait_beyond_the_patience_is_said(server: ProviderServer, client: ProviderClient) -> None:
    server.answer = lambda asked: Reply(429, {}, {"Retry-After": "3600"})
    with pytest.raises(ProviderError, match="asks to wait for 3600 s: try again later"):
        post(client)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(401, {"error": {"message": f"Incorrect API key: {KEY}"}}), "the key in the variable PROVIDER_KEY"),
        (Reply(403, {"error": "no"}), "refuses the key with status 403"),
        (Reply(404, {"error": {"message": "model m does not exist"}}), "model m does not exist"),
        (Reply(429, {"error": {"code": "insufficient_quota", "message": "pay"}}), "credit is used up"),
        (Reply(200, b"<html>Welcome", content_type="text/html"), "answers with text/html and not with JSON"),
        (Reply(302, b"", {"Location": "http://127.0.0.1:1/"}), "redirects with status 302"),
    ],
    ids=["key", "forbidden", "model", "credit", "portal", "redirect"],
)  # fmt: skip
def test_what_no_retry_cures_is_said_at_once(
    server: ProviderServer, client: ProviderClient, reply: Reply, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    """One request, one sentence with the server and what to do; the key stands neither in it nor in the log."""
    server.answer = lambda asked: reply
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError, match=said) as refused:
        post(client)
    assert len(server.asked) == 1
    assert server.url in str(refused.value)
    assert str(refused.value).count("\n") == 0
    assert KEY not in str(refused.value) + caplog.text
    assert refused.value.__suppress_context__  # the client's own error may quote the key


def test_the_key_comes_from_the_environment(
    server: ProviderServer, client: ProviderClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The named variable's key is sent, no other; without a name nothing is sent, whatever the environment holds."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-alone")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    post(client)
    without = ProviderClient(server.url, None, PATIENT)
    post(without)
    without.close()
    sent = [{name.lower(): value for name, value in asked.headers.items()} for asked in server.asked]
    assert sent[0]["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in sent[1]
    assert not any("org-1" in str(headers) for headers in sent)
    with pytest.raises(ProviderError, match="set the variable NO_SUCH_KEY"):
        ProviderClient(server.url, "NO_SUCH_KEY", PATIENT)


def test_a_certificate_that_is_not_trusted_is_refused_at_once(tmp_path: Path) -> None:
    with ProviderServer(tls=certificate(tmp_path)) as server:
        client = ProviderClient(server.url, None, PATIENT)
        with pytest.raises(
            ProviderError, match=r"certificate that is not trusted \(self.signed certificate\): .*SSL_CERT_FILE"
        ):
            post(client)
        client.close()


def test_the_file_of_ssl_cert_file_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedy of the sentence works."""
    file = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with ProviderServer(tls=file) as server:
        client = ProviderClient(server.url, None, PATIENT)
        assert len(post(client)["data"]) == 1
        client.close()


def test_an_invalid_answer_is_tried_again(server: ProviderServer, client: ProviderClient) -> None:
    answers = count()

    def check(answer: object) -> str:
        if next(answers) < 2:
            raise invalid("it has no list of vectors")
        return "good"

    assert client.post("/embeddings", BODY, check) == "good"
    assert len(server.asked) == 3


def test_a_request_that_may_be_too_large_goes_back(server: ProviderServer, client: ProviderClient) -> None:
    server.answer = lambda asked: Reply(413, {"error": {"message": "too many tokens"}})
    with pytest.raises(RequestFailedError) as failed:
        post(client)
    assert failed.value.cure is Cure.SPLIT
    assert len(server.asked) == 1


def test_a_provider_that_failed_often_is_left_alone_and_tried_later(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After five failures a search fails at once without a request; after the rest one request tries, and closes it."""
    monkeypatch.setattr(limits, "REST", 0.4)
    server.answer = lambda asked: Reply(500, {})
    hasty = ProviderClient(server.url, None, Patience(5, 30, timeout=5, waits_for_breaker=False))
    with pytest.raises(ProviderError):
        post(hasty)
    asked = len(server.asked)
    assert asked == limits.FAILURES
    with pytest.raises(ProviderError, match="has failed several times in a row"):
        post(hasty)
    assert len(server.asked) == asked
    server.answer = lambda asked: None
    time.sleep(0.5)  # the breaker's rest
    assert len(post(hasty)["data"]) == 1
    hasty.close()


def test_closing_ends_a_wait(server: ProviderServer) -> None:
    """A wait of ten minutes ends with the client: an interrupted ingest does not hang."""
    server.answer = lambda asked: Reply(429, {}, {"Retry-After": "600"})
    client = ProviderClient(server.url, None, Patience(4, 900, timeout=5, waits_for_breaker=True))
    ended: list[str] = []

    def wait() -> None:
        try:
            post(client)
        except ProviderError as error:
            ended.append(str(error))

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until(lambda: bool(server.asked))
    client.close()
    thread.join(60)
    assert "closed" in ended[0]


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
    client = ProviderClient(f"http://127.0.0.1:{port}/v1", None, Patience(2, 30, timeout=2, waits_for_breaker=True))
    with pytest.raises(ProviderError, match=rf"127.0.0.1:{port}/v1 cannot be reached .*refused.*2 times in a row"):
        post(client)
    client.close()


@pytest.mark.parametrize(
    ("milliseconds", "value", "seconds"),
    [
        (None, "2", 2.0),
        ("1500", "9", 1.5),
        (None, "Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        (None, "soon", None),
        (None, None, None),
    ],
)
def test_retry_after_is_read(milliseconds: str | None, value: str | None, seconds: float | None) -> None:
    assert retry_after(milliseconds, value) == seconds
