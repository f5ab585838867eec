"""The routes, as their description and the docs name them."""

import re
from pathlib import Path
from typing import Any

import pytest

from sourcebook import server
from sourcebook.server.app import create_app
from sourcebook.server.problems import MEDIA_TYPE
from tests.checkout import DOCS

OF_OPENAI = re.compile(r"/v1/(chat/completions|embeddings|models.*)")
"""Paths of OpenAI's protocol, whose errors have the form that its clients know."""


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return create_app(None, requires_key=True).openapi()  # type: ignore[arg-type] # the description asks for nothing


def test_every_route_is_in_the_docs(description: dict[str, Any]) -> None:
    documented = set(
        re.findall(r"`((?:GET|POST|PATCH|PUT|DELETE) /[^`]*)`", (DOCS / "rest.md").read_text(encoding="utf-8"))
    )
    assert documented == {
        f"{method.upper()} {path}" for path, methods in description["paths"].items() for method in methods
    }


def test_every_route_says_what_it_does_and_how_it_fails(description: dict[str, Any]) -> None:
    for path, methods in description["paths"].items():
        for operation in methods.values():
            assert operation["description"].endswith(".")
            assert "operationId" in operation
            if OF_OPENAI.fullmatch(path):
                assert operation["responses"]["404"] == {"$ref": "#/components/responses/OpenAIError"}
            elif path.startswith("/v1/"):
                assert operation["responses"]["404"] == {"$ref": "#/components/responses/NotFound"}
    failed = description["components"]["responses"]
    assert failed["NotFound"]["content"] == {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
    refused = failed["OpenAIError"]["content"]
    assert refused == {"application/json": {"schema": {"$ref": "#/components/schemas/OpenAIError"}}}


def test_the_server_opens_no_connection() -> None:
    """Every route, page and tool goes through an operation, which an agent, a page and a program share."""
    opened = re.compile(r"\b(?:short_|own_)?connection\(\)")
    assert [path.name for path in Path(server.__path__[0]).rglob("*.py") if opened.search(path.read_text())] == []
