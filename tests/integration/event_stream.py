"""A client of server-sent events, which reads line by line."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from typing import Any

from tests.integration.http_server import Client


@dataclass(frozen=True)
class Event:
    """One event."""

    name: str
    data: Any
    id: int
    """Id of the event; 0 where it has none."""


@contextmanager
def opened(client: Client, path: str, **headers: str) -> Iterator[HTTPResponse]:
    """Open a stream; leaving the block closes the connection in its middle."""
    connection = HTTPConnection("127.0.0.1", client.port, timeout=60)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if client.key is not None:
        sent["Authorization"] = f"Bearer {client.key}"
    try:
        connection.request("GET", path, headers=sent)
        yield connection.getresponse()
    finally:
        connection.close()


def events(answer: HTTPResponse) -> Iterator[Event]:
    """Yield the events until the stream ends."""
    fields: dict[str, str] = {}
    for line in answer:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            fields[name] = value
        elif fields.keys() >= {"event", "data"}:
            yield Event(fields["event"], json.loads(fields["data"]), int(fields.get("id", "0")))
            fields = {}
