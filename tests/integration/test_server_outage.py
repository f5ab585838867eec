"""The database goes away under the server: 503 within five seconds, and answers as soon as it is back."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sourcebook.admin.access_keys import create_key
from tests.integration.http_server import Client, serving
from tests.integration.test_outage import Outage, published_server
from tests.waiting import wait_until


@pytest.fixture
def outage(public_folder: Path) -> Iterator[Outage]:
    with published_server(public_folder) as outage:
        yield outage


@pytest.mark.alone
def test_a_stopped_database_is_503_within_five_seconds(outage: Outage) -> None:
    """SIGSTOP: the kernel accepts connections, and nobody answers, not even about the key."""
    with outage.knowledge() as knowledge, serving(knowledge, requires_key=True) as anyone:
        with knowledge.database.connection() as connection:
            _, text = create_key(connection, "reader", ("read",), None, actor="test")
        client = Client(anyone.port, text)
        assert client.get("/v1/collections").status == 200
        outage.signal(signal.SIGSTOP)
        try:
            for asked in ("/v1/collections", "/v1/documents", "/ready"):
                started = time.monotonic()
                answer = client.get(asked)
                assert (answer.status, time.monotonic() - started < 5) == (503, True), asked
        finally:
            outage.signal(signal.SIGCONT)
        back = time.monotonic()
        wait_until(lambda: client.get("/v1/collections").status == 200)
        assert time.monotonic() - back < 2
