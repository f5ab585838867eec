"""docs/mcp-tools.md: every tool of agents with its arguments."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.references.parts import page, sections
from tests.surface.server_interface import kind_of, mcp_tools, one_line

_HINTS: Final = {
    "readOnlyHint": "only reads",
    "destructiveHint": "may take something away",
    "idempotentHint": "may be repeated",
}


def make() -> str:
    """Return the page."""
    return page("mcp-tools.md", "Tools of agents", sections("mcp-tools.md")[""], *(_tool(tool) for tool in mcp_tools()))


def _tool(tool: Mapping[str, Any]) -> str:
    hints = [words for name, words in _HINTS.items() if tool.get("annotations", {}).get(name)]
    schema = tool["inputSchema"]
    rows = list(_rows(schema, schema.get("required", ())))
    for name, held in schema.get("$defs", {}).items():
        if held.get("properties"):
            rows += [f"| of `{name}`: {row[2:]}" for row in _rows(held, held.get("required", ()))]
    table = ["\n".join(["| argument | takes | |", "|---|---|---|", *rows])] if rows else []
    says = f"It {', '.join(hints)}." if hints else ""
    return "\n\n".join([f"## `{tool['name']}`", f"{one_line(tool['description'])} {says}".strip(), *table])


def _rows(schema: Mapping[str, Any], required: tuple[str, ...]) -> Iterator[str]:
    for name, held in schema.get("properties", {}).items():
        kind = kind_of(held).replace("|", "\\|")
        told = one_line(held.get("description")).replace("|", "\\|").replace("<", "\\<")
        yield f"| `{name}`{' (required)' if name in required else ''} | `{kind}` | {told} |"
