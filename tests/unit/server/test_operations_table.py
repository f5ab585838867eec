"""The table of operations says where the server answers, and with which scope."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from sourcebook.operations.table import OPERATIONS, Operation
from sourcebook.server.app import create_app
from sourcebook.server.routes.plain import plain_routes


def test_what_no_url_can_say_needs_a_route_by_hand() -> None:
    with pytest.raises(TypeError, match=r"^search: query is not plain: write its route by hand$"):
        plain_routes([])


def shape(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path)


def routes_below(routes: Any, prefix: str = "") -> Iterator[tuple[str, str, APIRoute]]:
    """Yield verb, path and route, those of included routers among them."""
    for route in routes:
        if isinstance(route, APIRoute):
            yield from ((verb, shape(prefix + route.path), route) for verb in route.methods or ())
        elif hasattr(route, "original_router"):
            yield from routes_below(route.original_router.routes, prefix + route.include_context.prefix)


def scopes(dependant: Dependant) -> set[str]:
    """Return the scopes that a route needs: `needing` keeps its scope in a closure."""
    found = set()
    for each in dependant.dependencies:
        if each.call is not None and each.call.__qualname__ == "needing.<locals>.check":
            found.add(inspect.getclosurevars(each.call).nonlocals["scope"])
        found |= scopes(each)
    return found


@pytest.fixture(scope="module")
def routes() -> dict[tuple[str, str], APIRoute]:
    app = create_app(None, requires_key=True)  # type: ignore[arg-type] # nothing is asked
    return {(verb, path): route for verb, path, route in routes_below(app.routes)}


@pytest.mark.parametrize("operation", [each for each in OPERATIONS.values() if each.http], ids=lambda each: each.name)
def test_the_server_answers_there_with_that_scope(
    operation: Operation[Any, Any], routes: dict[tuple[str, str], APIRoute]
) -> None:
    verb, path = operation.http.split()
    assert scopes(routes[verb, shape(path)].dependant) == {operation.scope}
