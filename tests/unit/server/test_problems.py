"""Answers to requests that failed: they say nothing of what the caller may not see, and repeat nothing."""

import asyncio
import json
from typing import Any

import pytest
from starlette.requests import Request

from sourcebook.errors import GoneCollectionError, SourcebookError, UnknownCollectionError
from sourcebook.server.mcp.sentences import sentence
from sourcebook.server.problems import answer_to
from sourcebook.server.request_models import place_in


def answered(error: SourcebookError) -> dict[str, Any]:
    request = Request({"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""})
    found: dict[str, Any] = json.loads(bytes(asyncio.run(answer_to(request, error)).body))
    return found


@pytest.mark.parametrize("kind", [UnknownCollectionError, GoneCollectionError])
def test_a_collection_that_went_meanwhile_names_no_others(kind: type[SourcebookError]) -> None:
    error = kind("there is no collection 'manuals'; there is payroll, personnel")
    assert (answered(error)["status"], answered(error)["detail"]) == (404, "there is no such collection")
    assert sentence(error, is_local=False) == "there is no such collection"


@pytest.mark.parametrize(
    ("place", "error", "named"),
    [
        (("generation", "function-before[as_whole(), int]"), "int_type", "generation"),
        (("generation", "list[int]", 1), "int_type", "generation.1"),
        (("fusion", "FusionSettings", "k"), "greater_than_equal", "fusion.k"),
        (("rerank", "RerankingSettings", "model"), "missing", "rerank.model"),
        ((), "model_type", ""),
    ],
)
def test_a_wrong_value_has_the_place_where_it_was_sent(place: tuple[str | int, ...], error: str, named: str) -> None:
    """The types that were tried there are no part of it."""
    assert place_in({"generation": [1, "x"], "fusion": {"k": 0}, "rerank": {}}, place, error) == named
