"""The description of the API is OpenAPI, as the validator of others reads it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from sourcebook.server.app import create_app

LIMITS_OF_PYTHON = {"ge", "gt", "le", "lt", "strict", "min_length", "max_length"}
"""Limits that stand in a schema under the names of the code are none there: no client reads them."""


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return create_app(None, requires_key=True, version="1").openapi()  # type: ignore[arg-type] # it asks for nothing


def test_the_description_is_valid(description: dict[str, Any]) -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(description).iter_errors()] == []


def test_every_limit_is_one_that_clients_read(description: dict[str, Any]) -> None:
    found = [place for place, schema in schemas(description) if set(schema) & LIMITS_OF_PYTHON and "type" in schema]
    assert found == []


def test_every_operation_under_v1_asks_for_a_key(description: dict[str, Any]) -> None:
    open_to_all = {"/health", "/ready"}
    for path, operations in description["paths"].items():
        for operation in operations.values():
            assert ("security" in operation) == (path not in open_to_all), path


def test_no_two_operations_have_one_name(description: dict[str, Any]) -> None:
    names = [each["operationId"] for operations in description["paths"].values() for each in operations.values()]
    assert len(names) == len(set(names))


def test_each_failure_is_described_once(description: dict[str, Any]) -> None:
    """Repeated, the descriptions of failures were two thirds of all, and clients made of it lost their errors."""
    assert len(json.dumps(description)) < 260_000
    answers = [
        answer
        for operations in description["paths"].values()
        for operation in operations.values()
        for status, answer in operation["responses"].items()
        if status.startswith(("4", "5")) and "dify" not in operation.get("tags", ())
    ]
    shared = description["components"]["responses"]
    assert len(shared) < 20
    assert all(answer.get("$ref", "").rpartition("/")[2] in shared for answer in answers if "$ref" in answer)
    assert sum("$ref" in answer for answer in answers) > len(answers) * 0.9


def schemas(node: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        yield place, node
        for name, held in node.items():
            yield from schemas(held, f"{place}/{name}")
    elif isinstance(node, list):
        for number, held in enumerate(node):
            yield from schemas(held, f"{place}/{number}")
