"""Nothing but the protocol reaches standard output, whatever prints; and the tools are those of the docs."""

import re
import subprocess
import sys

from sourcebook.server.mcp.catalogue import CHATGPT_TOOLS, TOOLS
from sourcebook.server.types import SearchQuery
from tests.checkout import DOCS

NOISE = """
import os, subprocess, sys
from sourcebook.server.mcp.wire import take_wire
print("before", end="", file=sys.stderr)
reading, writing = take_wire()
print("noise of a library", flush=True)
os.write(1, b"noise of C")
subprocess.run([sys.executable, "-c", "print('noise of a child'); print('child read', repr(input()))"])
writing.write(reading.readline())
writing.close()
sys.stdout.write("noise at the end")
"""


def test_whatever_prints_stays_beside_the_wire() -> None:
    done = subprocess.run([sys.executable, "-c", NOISE], input=b"the request\n", capture_output=True, check=True)
    assert done.stdout == b"the request\n"
    for noise in (b"library", b"of C", b"a child", b"at the end"):
        assert noise in done.stderr
    assert b"EOFError" in done.stderr, "a child does not read the agent's requests"


def test_the_wire_holds_where_standard_error_is_closed() -> None:
    quiet = "import os; os.close(2)\n" + NOISE.replace('print("before", end="", file=sys.stderr)', "")
    done = subprocess.run([sys.executable, "-c", quiet], input=b"the request\n", stdout=subprocess.PIPE, check=False)
    assert done.stdout == b"the request\n"


def test_every_tool_is_in_the_docs() -> None:
    named = re.findall(r"^## `(\w+)`$", (DOCS / "mcp-tools.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert named == [tool.name for tool in (*TOOLS, *CHATGPT_TOOLS)]


def test_search_documents_has_every_option_of_the_library() -> None:
    schema = TOOLS[0].arguments.model_json_schema()
    assert set(schema["properties"]) == {*SearchQuery.model_fields, "max_tokens"}
    assert schema["additionalProperties"] is False


def test_stdio_needs_none_of_the_web_framework() -> None:
    """The start is short: what only HTTP needs is not imported."""
    code = "import sys, sourcebook.server.mcp.stdio; print({'fastapi', 'numpy', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
