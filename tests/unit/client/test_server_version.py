"""The client says where the server is of another version."""

import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sourcebook.client import RemoteKnowledgeBase
from sourcebook.client.server_version import compare
from sourcebook.errors import DatabaseError
from sourcebook.installation import VERSION_HEADER, installed_version

BODY = b'{"collections": [{"no": "name"}]}'


class Server(ThreadingHTTPServer):
    """A server that names a version and answers with what no client reads."""

    version = ""

    def knowledge(self) -> RemoteKnowledgeBase:
        return RemoteKnowledgeBase(f"http://127.0.0.1:{self.server_port}")


class Answering(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.send_response(200)
        if self.server.version:
            self.send_header(VERSION_HEADER, self.server.version)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def refused(knowledge: RemoteKnowledgeBase) -> str:
    with pytest.raises(DatabaseError) as error:
        knowledge.collections()
    return str(error.value)


@pytest.mark.parametrize(("version", "relation"), [("0.0.9", "older"), ("99.0", "newer")])
def test_a_server_of_another_version_is_named_once(
    server: Server, caplog: pytest.LogCaptureFixture, version: str, relation: str
) -> None:
    """In the log, as a property, and in the error for an answer that the client does not read."""
    server.version = version
    with server.knowledge() as knowledge, caplog.at_level(logging.WARNING, "sourcebook.client"):
        sentences = {refused(knowledge), refused(knowledge)}
        assert knowledge.server_version == version
    own = installed_version()
    (warning,) = caplog.messages
    assert f"is Sourcebook {version}, {relation} than this client ({own})" in warning
    (sentence,) = sentences
    assert sentence.endswith(f"the server is Sourcebook {version}, this client {own}")


@pytest.mark.parametrize("version", ["", "9.9 is out: https://evil.example", "v1"])
def test_what_is_no_version_is_not_repeated(server: Server, caplog: pytest.LogCaptureFixture, version: str) -> None:
    server.version = version
    with server.knowledge() as knowledge, caplog.at_level(logging.WARNING, "sourcebook.client"):
        assert "of an unknown version" in refused(knowledge)
        assert knowledge.server_version is None
    assert caplog.messages == []


def test_a_server_of_the_same_version_is_not_worth_a_word(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    server.version = installed_version()
    with server.knowledge() as knowledge, caplog.at_level(logging.WARNING, "sourcebook.client"):
        refused(knowledge)
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("other", "own", "relation"),
    [
        ("0.1.0", "0.2.0", "older"),
        ("0.10", "0.9.9", "newer"),
        ("0.2.0rc1", "0.2.0", "older"),
        ("0.2", "0.2.0", None),
        ("0.2.0", "", None),
    ],
)
def test_versions_are_compared_by_their_numbers(other: str, own: str, relation: str | None) -> None:
    assert compare(other, own) == relation
