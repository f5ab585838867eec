"""`sourcebook mcp` as an agent starts it: nothing but the protocol on standard output, whatever prints."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from sourcebook.server.mcp.catalogue import TOOLS
from tests.integration.stages import Stages

NOISE = """
import ctypes, os, subprocess, sys
from pathlib import Path

import sourcebook.knowledge_base
from sourcebook.server.mcp import wire

C = ctypes.CDLL(None)

def shout(what):
    print("python", what, flush=True)
    os.write(1, f"descriptor {what}\\n".encode())
    C.puts(f"C {what}".encode())
    C.fflush(None)

class Shouting:
    def find_spec(self, name, *_):
        shout(f"imports {name}")

def take():
    taken = before()
    sys.meta_path.insert(0, Shouting())
    return taken

def search(*args, **options):
    shout("searches")
    subprocess.run(["sh", "-c", "echo a child; cat"])
    return found(*args, **options)

before, wire.take_wire = wire.take_wire, take
found = sourcebook.knowledge_base.KnowledgeBase.search
sourcebook.knowledge_base.KnowledgeBase.search = search
sys.argv = ["sourcebook", "mcp", *sys.argv[1:]]
from sourcebook.command import main
main()
"""
"""`sourcebook mcp` with libraries that print while they are imported, and while they search."""


@pytest.fixture
def environment(stages: Stages, exported_model: Path) -> dict[str, str]:
    """The environment of a command over a collection with a document."""
    stages.write("power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.\n")
    stages.configure()
    stages.run()
    home = {"SOURCEBOOK_DATABASE_URL": stages.database.url, "SOURCEBOOK_HOME": str(exported_model)}
    return {**os.environ, **home, "HF_HUB_OFFLINE": "1"}


def test_nothing_but_the_protocol_reaches_standard_output(environment: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "errors"  # a pipe would be full
    with log.open("wb") as errors, talk([sys.executable, "-c", NOISE], environment, errors) as process:
        begin(process)
        called = ask(
            process, "tools/call", name="search_documents", arguments={"query": "How long do the batteries last?"}
        )
        assert called["structuredContent"]["results"][0]["citation"]["title"] == "Power"
        odd = ask(process, "tools/call", name="search_documents", arguments={"query": "batteries \ud800"})
        assert odd["structuredContent"]["results"]  # a lone surrogate is a question like another
        rest, _ = process.communicate(timeout=60)
    noise = log.read_bytes()
    assert rest == b""
    assert process.returncode == 0
    for voice in (b"python", b"descriptor", b"C"):
        assert voice + b" searches" in noise
        assert voice + b" imports mcp" in noise
    assert b"a child" in noise


def test_an_agent_that_only_reads_is_offered_no_tool_that_writes(environment: dict[str, str]) -> None:
    command = [str(Path(sys.executable).with_name("sourcebook")), "mcp"]
    names = {}
    for options in ((), ("--read-only",)):
        with talk([*command, *options], environment, subprocess.DEVNULL) as process:
            begin(process)
            names[options] = [tool["name"] for tool in ask(process, "tools/list")["tools"]]
            process.communicate(timeout=60)
    assert names[()] == [tool.name for tool in TOOLS]
    assert names["--read-only",] == [tool.name for tool in TOOLS if tool.scope == "read"]


def talk(command: list[str], environment: dict[str, str], errors: IO[bytes] | int) -> "subprocess.Popen[bytes]":
    """Start a server."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=errors)


def begin(process: "subprocess.Popen[bytes]") -> None:
    """Introduce an agent."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    assert ask(process, "initialize", **hello)["serverInfo"]["name"] == "sourcebook"
    send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})


def ask(process: "subprocess.Popen[bytes]", method: str, **parameters: Any) -> Any:
    """Return the result of a request; the next line of the output is its answer."""
    send(process, {"jsonrpc": "2.0", "id": method, "method": method, "params": parameters})
    assert process.stdout is not None
    answer = json.loads(process.stdout.readline())
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", method)
    return answer["result"]


def send(process: "subprocess.Popen[bytes]", message: dict[str, Any]) -> None:
    """Send a message as a line."""
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
