"""Answers to requests that failed: they say nothing of what the caller may not see, and repeat nothing."""

import asyncio
import json
from typing import Any

import pytest
from starlette.requests import Request

from sourcebook.errors import GoneCollectionError, SourcebookError, UnknownCollectionError
from sourcebook.server.mcp.sentences import sentence
from sourcebook.server.problems import answer_to


def answered(error: SourcebookError) -> dict[str, Any]:
    request = Request({"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""})
    found: dict[str, Any] = json.loads(bytes(asyncio.run(answer_to(request, error)).body))
    return found


@pytest.mark.parametrize("kind", [UnknownCollectionError, GoneCollectionError])
def test_a_collection_that_went_meanwhile_names_no_others(kind: type[SourcebookError]) -> None:
    error = kind("there is no collection 'manuals'; there is payroll, personnel")
    assert (answered(error)["status"], answered(error)["detail"]) == (404, "there is no such collection")
    assert sentence(error, is_local=False) == "there is no such collection"
