"""The description of the REST API, and the tools that agents are offered."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from mcp import Client

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.app import create_app
from sourcebook.server.mcp.protocol import make_server

_BOUNDS = (
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
)


def openapi() -> dict[str, Any]:
    """Return the description of the API; it asks for no knowledge base."""
    return create_app(cast(KnowledgeBase, None), requires_key=True).openapi()


def mcp_tools() -> list[dict[str, Any]]:
    """Return the answer to `tools/list`, with the tools in ChatGPT's shape."""

    def unasked(_: Grant) -> KnowledgeBase:
        raise AssertionError("a list of tools needs no knowledge base")

    async def ask() -> list[dict[str, Any]]:
        server = make_server(unasked, lambda _: Grant("surface"), is_local=True, chatgpt=True, all_options=True)
        async with Client(server) as client:
            listed = await client.list_tools()
        return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]

    return asyncio.run(ask())


def openapi_files() -> dict[str, str]:
    """Return the whole description, and its digest."""
    return {"openapi.json": _as_json(openapi()), "digest.txt": openapi_digest()}


def mcp_files() -> dict[str, str]:
    """Return the whole list of tools, and its digest."""
    return {"tools.json": _as_json(mcp_tools()), "digest.txt": mcp_digest()}


def openapi_digest() -> str:
    """Return one line for each operation, parameter, answer and field of a type."""
    described = openapi()
    lines = []
    for path, operations in sorted(described["paths"].items()):
        for verb, operation in sorted(operations.items()):
            key = "" if "security" in operation else " (no key)"
            lines.append(
                f"{verb.upper()} {path} {operation['operationId']}{key}: {one_line(operation.get('description'))}"
            )
            for each in operation.get("parameters", []):
                if "$ref" in each:
                    lines.append(f"  {_name(each)}")
                    continue
                required = "" if each.get("required") else "?"
                told = one_line(each.get("description"))
                lines.append(f"  {each['in']} {each['name']}{required}: {kind_of(each['schema'])} {told}".rstrip())
            for media, body in operation.get("requestBody", {}).get("content", {}).items():
                lines.append(f"  body {media}: {kind_of(body.get('schema', {}))}")
            for status, answer in sorted(operation["responses"].items()):
                if status < "400":
                    kinds = [
                        f"{media} {kind_of(body.get('schema', {}))}"
                        for media, body in answer.get("content", {}).items()
                    ]
                    lines.append(f"  {status}: {', '.join(kinds)}")
            failures = [status for status in sorted(operation["responses"]) if status >= "400"]
            lines.append(f"  fails with {', '.join(failures)}")
    for name, schema in sorted(described["components"]["schemas"].items()):
        lines += _type_lines(name, schema)
    return "\n".join(lines) + "\n"


def mcp_digest() -> str:
    """Return one line for each tool, each argument and each field of an answer."""
    lines = []
    for tool in mcp_tools():
        hints = [name for name, value in sorted(tool.get("annotations", {}).items()) if value is True]
        lines.append(f"{tool['name']} ({tool['title']}; {', '.join(hints)}): {tool['description']}")
        for title, schema in (("argument", tool["inputSchema"]), ("answer", tool["outputSchema"])):
            for name, held in schema.get("$defs", {}).items():
                lines += [f"  {title} {line}" for line in _type_lines(name, held)]
            lines += [f"  {title}{line}" for line in _type_lines("", schema)[1:]]
    return "\n".join(lines) + "\n"


def _type_lines(name: str, schema: Mapping[str, Any]) -> list[str]:
    closed = " closed" if schema.get("additionalProperties") is False else ""
    fields = schema.get("properties")
    lines = [f"{name}{closed}: {one_line(schema.get('description'))}" if fields else f"{name}: {kind_of(schema)}"]
    for field, held in (fields or {}).items():
        required = "" if field in schema.get("required", ()) else "?"
        lines.append(f"  {field}{required}: {kind_of(held)} {one_line(held.get('description'))}".rstrip())
    return lines


def kind_of(schema: Mapping[str, Any]) -> str:
    """Return the type, the bounds and the default of a value."""
    return " ".join(_kinds(schema))


def _kinds(schema: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in schema:
        yield _name(schema)
    for joined in ("anyOf", "oneOf", "allOf"):
        if joined in schema:
            yield f"({' | '.join(kind_of(each) for each in schema[joined])})"
    if "enum" in schema or "const" in schema:
        yield "|".join(str(value) for value in schema.get("enum", [schema.get("const")]))
    elif "type" in schema:
        yield str(schema["type"]) + (f"({schema['format']})" if "format" in schema else "")
    if "items" in schema:
        yield f"of {kind_of(schema['items'])}"
    if "prefixItems" in schema:
        yield f"of [{', '.join(kind_of(each) for each in schema['prefixItems'])}]"
    if isinstance(schema.get("additionalProperties"), dict):
        yield f"by name of {kind_of(schema['additionalProperties'])}"
    yield from (f"{bound}={schema[bound]}" for bound in _BOUNDS if bound in schema)
    if "pattern" in schema:
        yield f"/{schema['pattern']}/"
    if "default" in schema:
        yield f"= {json.dumps(schema['default'])}"


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def one_line(text: str | None) -> str:
    """Return a text without line breaks."""
    return " ".join((text or "").split())


def _as_json(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
