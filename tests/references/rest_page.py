"""docs/rest.md: every route with its scope, parameters, body and answer."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final, cast

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.access import needing
from sourcebook.server.app import create_app
from tests.references.parts import page, sections
from tests.references.python_types import public_types
from tests.surface.server_interface import kind_of, one_line

_CHECK: Final = needing("read").dependency.__code__  # type: ignore[attr-defined]  # a dependency of FastAPI
_SCOPES: Final = ("read", "write", "admin")
_TITLES: Final = {
    "search": "Search and answers",
    "documents": "Documents",
    "uploads": "Uploads",
    "collections": "Collections",
    "work": "Work",
    "judgments": "Judgments",
    "queries": "Logs and audit",
    "keys": "Keys and sessions",
    "adapters": "Other protocols",
    "operation": "Operation",
}


def make() -> str:
    """Return the page."""
    app = create_app(cast(KnowledgeBase, None), requires_key=True)
    described = app.openapi()
    scopes = dict(_scopes(app.routes))
    routes = [
        (operation["tags"][0], verb.upper(), path, operation)
        for path, operations in sorted(described["paths"].items())
        for verb, operation in operations.items()
    ]
    by_title = sorted(routes, key=lambda route: list(_TITLES).index(route[0]))
    blocks = [
        "\n\n".join([f"## {_TITLES[tag]}", *(_route(*each[1:], scopes) for each in held)])
        for tag, held in groupby(by_title, key=lambda route: route[0])
    ]
    types = [_type(name, schema) for name, schema in sorted(described["components"]["schemas"].items())]
    written = sections("rest.md")
    rest = [f"## {title}\n\n{body}" for title, body in written.items() if title]
    return page("rest.md", "REST", written[""], *rest, *blocks, "## Types", *types)


def _route(verb: str, path: str, operation: Mapping[str, Any], scopes: Mapping[str, str]) -> str:
    scope = scopes.get(operation["operationId"])
    told = "\n\n".join(one_line(part) for part in operation.get("description", "").split("\n\n"))
    needs = f"Scope `{scope}`." if scope else "" if "security" in operation else "Without a key."
    rows = [_parameter(each) for each in operation.get("parameters", ()) if "$ref" not in each]
    table = ["\n".join(["| parameter | takes | |", "|---|---|---|", *rows])] if rows else []
    return "\n\n".join(
        [f"### `{verb} {path}`", f"{told} {needs}".strip(), *table, " ".join(_bodies(operation))]
    ).strip()


def _parameter(parameter: Mapping[str, Any]) -> str:
    required = " (required)" if parameter.get("required") else ""
    return f"| `{parameter['name']}` | {_code(kind_of(parameter['schema']))}{required} | {_cell(parameter)} |"


def _bodies(operation: Mapping[str, Any]) -> Iterator[str]:
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Body ({media}): {_linked(body.get('schema', {}))}."
    for status, answer in sorted(operation["responses"].items()):
        if status < "400":
            kinds = [
                f"{_linked(body.get('schema', {}))} ({media})" for media, body in answer.get("content", {}).items()
            ]
            yield f"Answer {status}: {' or '.join(kinds) or 'no body'}."


def _type(name: str, schema: Mapping[str, Any]) -> str:
    """Return the fields of a type; those of a type of the Python module stand there."""
    heading = f"### `{name}`\n\n"
    if name in public_types():
        return heading + f"The fields of [`{name}`](python.md#{name.lower()})."
    told = one_line(schema.get("description"))
    rows = [
        f"| `{field}`{' (required)' if field in schema.get('required', ()) else ''} | {_linked(held)} | {_cell(held)} |"
        for field, held in schema.get("properties", {}).items()
    ]
    table = "\n".join(["| field | takes | |", "|---|---|---|", *rows]) if rows else _code(kind_of(schema))
    return heading + "\n\n".join(part for part in (told, table) if part)


def _linked(schema: Mapping[str, Any]) -> str:
    """Return the type of a value, as a link to its fields where it has some."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return f"[`{name}`](#{name.lower()})"
    if schema.get("type") == "array" and "$ref" in schema.get("items", {}):
        return f"list of {_linked(schema['items'])}"
    choices = schema.get("anyOf", ())
    if any("$ref" in each or "$ref" in each.get("items", {}) for each in choices):
        return " or ".join(_linked(each) for each in choices)
    return _code(kind_of(schema)) if schema else "any"


def _code(kind: str) -> str:
    return f"`{kind}`".replace("|", "\\|") if kind else "any"


def _cell(described: Mapping[str, Any]) -> str:
    return one_line(described.get("description")).replace("|", "\\|").replace("<", "\\<")


def _scopes(routes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield the scope that each route needs, by the id of its operation; routers hold further routes."""
    for route in routes:
        if isinstance(route, APIRoute) and (wanted := list(_wanted(route.dependant))):
            yield route.operation_id or route.name, max(wanted, key=_SCOPES.index)
        yield from _scopes(getattr(getattr(route, "original_router", None), "routes", ()))


def _wanted(dependant: Dependant) -> Iterator[str]:
    if getattr(dependant.call, "__code__", None) is _CHECK:
        yield inspect.getclosurevars(cast(Any, dependant.call)).nonlocals["scope"]
    for each in dependant.dependencies:
        yield from _wanted(each)
