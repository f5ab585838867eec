"""A web server that misbehaves, and a folder for crawl4ai."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web_server import WebServer


@pytest.fixture(autouse=True)
def crawl4ai_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWL4_AI_BASE_DIRECTORY", str(tmp_path))


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server
