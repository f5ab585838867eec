"""A web server that misbehaves."""

from collections.abc import Iterator

import pytest

from tests.web_server import WebServer


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server
