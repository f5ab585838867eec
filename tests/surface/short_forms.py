"""The short forms of what users meet that a test compares with the code."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.references.pages import write_references
from tests.surface import command_help, python_interface, refusals, server_interface

SNAPSHOTS: Final = Path(__file__).with_name("snapshots")
MADE: Final[Mapping[str, Callable[[], str]]] = {
    "commands.txt": lambda: "\n".join(command_help.pages().values()),
    "rest.txt": server_interface.openapi_digest,
    "agents.txt": server_interface.mcp_digest,
    "python.txt": python_interface.digest,
    "refusals.txt": refusals.digest,
}
"""Each snapshot by the name of its file: a function that makes it from the code."""


def write_snapshots() -> None:
    """Write all snapshots anew, and the references of docs/."""
    SNAPSHOTS.mkdir(exist_ok=True)
    for name, make in MADE.items():
        (SNAPSHOTS / name).write_text(make(), encoding="utf-8")
    write_references()
