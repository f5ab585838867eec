"""An agent that asks a server of the Model Context Protocol without an SDK, so that its own time is small."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, BinaryIO, Final

from benchmarks.harness.library import Library

_VERSION: Final = "2025-11-25"
_HELLO: Final = {
    "protocolVersion": _VERSION,
    "capabilities": {},
    "clientInfo": {"name": "benchmarks", "version": "1"},
}


class StdioAgent:
    """An agent that talks to a command over its standard streams.

    Args:
        process: the command, with pipes.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._requests: BinaryIO = process.stdin  # type: ignore[assignment] # a pipe of bytes
        self._answers: BinaryIO = process.stdout  # type: ignore[assignment]
        self._number = 0
        self.strays = 0
        """Bytes of lines that are no message of the protocol."""

    def begin(self) -> None:
        """Introduce the agent, and wait for the answer."""
        self.ask("initialize", _HELLO)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def search(self, question: str, collection: str) -> dict[str, Any]:
        """Return the answer of `search_documents`."""
        return _answer(self.ask("tools/call", _search(question, collection)))

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Send a request, and return its result."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters})
        while True:
            line = self._answers.readline()
            assert line, "the server ended"
            message = self._message(line)
            if message.get("id") == self._number:
                return _result(message)

    def rest(self) -> None:
        """End the requests, and count what else comes until the server ends."""
        self._requests.close()
        for line in self._answers:
            self._message(line)

    def _send(self, message: dict[str, Any]) -> None:
        self._requests.write(json.dumps(message).encode() + b"\n")
        self._requests.flush()

    def _message(self, line: bytes) -> dict[str, Any]:
        """Return a message of the protocol; count what is none, and return nothing."""
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if isinstance(message, dict) and message.get("jsonrpc") == "2.0":
            return message
        self.strays += len(line)
        return {}


@contextmanager
def stdio_agent(library: Library) -> Iterator[StdioAgent]:
    """Start `sourcebook mcp` over a library; yield the agent that started it."""
    command = [str(Path(sys.executable).with_name("sourcebook")), "--config", str(library.configuration_path), "mcp"]
    with subprocess.Popen(
        command,
        env=library.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            agent = StdioAgent(process)
            yield agent
            agent.rest()
        finally:
            process.terminate()


class HttpAgent:
    """An agent that talks to `/mcp` of a server on this machine, over connections that stay open, one a thread.

    Args:
        port: port of the server.
    """

    def __init__(self, port: int) -> None:
        self._port, self._held = port, threading.local()

    def search(self, question: str, collection: str) -> dict[str, Any]:
        """Return the answer of `search_documents`."""
        if not hasattr(self._held, "connection"):
            self._held.connection = HTTPConnection("127.0.0.1", self._port)
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": _search(question, collection)}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": _VERSION,
        }
        self._held.connection.request("POST", "/mcp", json.dumps(message), headers)
        answer = self._held.connection.getresponse()
        found = json.loads(answer.read())
        assert answer.status == 200, found
        return _answer(_result(found))


def _search(question: str, collection: str) -> dict[str, Any]:
    return {"name": "search_documents", "arguments": {"query": question, "collections": collection}}


def _result(message: dict[str, Any]) -> dict[str, Any]:
    assert "result" in message, message
    result: dict[str, Any] = message["result"]
    return result


def _answer(result: dict[str, Any]) -> dict[str, Any]:
    assert not result.get("isError"), result
    answer: dict[str, Any] = result["structuredContent"]
    return answer
