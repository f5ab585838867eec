"""Answers that are none become the errors that the library raises."""

import json

import pytest

from sourcebook.client.problems import error_of, pause_before_retry
from sourcebook.client.server_connection import ServerConnection
from sourcebook.errors import (
    AccessError,
    AmbiguousDocumentError,
    ConfigurationError,
    DatabaseBusyError,
    DatabaseError,
    DatabaseUnavailableError,
    ModelError,
    QueryError,
    RateLimitError,
    UnknownDocumentError,
)
from sourcebook.model.problem_types import ProblemType

URL = "http://server.example"


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, ProblemType.PLAIN, QueryError),
        (400, ProblemType.AMBIGUOUS_DOCUMENT, AmbiguousDocumentError),
        (401, ProblemType.PLAIN, AccessError),
        (403, ProblemType.PLAIN, AccessError),
        (404, ProblemType.PLAIN, QueryError),
        (404, ProblemType.UNKNOWN_DOCUMENT, UnknownDocumentError),
        (413, ProblemType.PLAIN, QueryError),
        (422, ProblemType.PLAIN, QueryError),
        (429, ProblemType.PLAIN, RateLimitError),
        (500, ProblemType.PLAIN, DatabaseError),
        (503, ProblemType.PLAIN, DatabaseError),
        (503, ProblemType.DATABASE_BUSY, DatabaseBusyError),
        (503, ProblemType.DATABASE_UNAVAILABLE, DatabaseUnavailableError),
        (503, ProblemType.MODEL, ModelError),
    ],
)
def test_a_problem_is_the_error_of_its_status_and_type(status: int, kind: str, error: type[Exception]) -> None:
    content = json.dumps({"type": kind, "status": status, "detail": "so it is"}).encode()
    found = error_of(URL, status, {}, content)
    assert type(found) is error
    assert str(found) == "so it is"


@pytest.mark.parametrize("content", [b"", b"<html>Bad Gateway", b"[]", b'{"detail": 5}', b"[" * 100_000, b"\xff"])
def test_whatever_a_proxy_says_is_an_error(content: bytes) -> None:
    found = error_of(URL, 502, {}, content)
    assert type(found) is DatabaseUnavailableError
    assert str(found) == f"the server at {URL} answers with status 502"


def test_only_what_can_succeed_is_tried_again() -> None:
    assert pause_before_retry(DatabaseBusyError("busy")) is True
    assert pause_before_retry(RateLimitError("slow down", 3)) == 3
    for error in (
        RateLimitError("slow down", 60),
        RateLimitError("slow down"),
        DatabaseError("full"),
        QueryError("no"),
    ):
        assert pause_before_retry(error) is False
    assert isinstance(error_of(URL, 503, {"retry-after": "2"}, b"away"), DatabaseUnavailableError)


@pytest.mark.parametrize(
    "url", ["", "knowledge.example", "ftp://a", "http://", "http://a:99999", "http://[", "http://a?b=c", "http://a#b"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="the address of the server is none"):
        ServerConnection(url)


def test_neither_a_key_nor_a_password_is_repeated() -> None:
    with pytest.raises(ConfigurationError) as password:
        ServerConnection("http://ada:opensesame@a.example")
    for key in ("sb_two words", "sb_line\nbreak", "sb_ключ"):
        with pytest.raises(ConfigurationError) as refused:
            ServerConnection("http://a.example", key)
        assert key not in str(refused.value)
    assert "opensesame" not in str(password.value)
    with pytest.raises(ConfigurationError, match="the timeout"):
        ServerConnection("http://a.example", timeout=0)
