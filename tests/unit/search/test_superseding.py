"""The order of superseded documents, without a database."""

from types import SimpleNamespace
from typing import Any

import pytest

from sourcebook.search import superseding
from sourcebook.search.superseding import REORDERED, behind_successors


def order(monkeypatch: pytest.MonkeyPatch, documents: list[int], successors: dict[int, set[int]]) -> list[int]:
    """Return the documents of candidates, in the order of behind_successors; one candidate a place."""
    monkeypatch.setattr(superseding, "read_documents", lambda _, __, chunks: {each: documents[each] for each in chunks})
    monkeypatch.setattr(superseding, "_successors", lambda _, __: successors)
    candidates: list[Any] = [SimpleNamespace(chunk_id=place) for place in range(len(documents))]
    scope: Any = SimpleNamespace(ids=[1])
    connection: Any = None
    return [documents[each.chunk_id] for each in behind_successors(connection, scope, candidates)]


def test_a_superseded_document_stands_directly_behind_its_successor(monkeypatch: pytest.MonkeyPatch) -> None:
    assert order(monkeypatch, [1, 2, 1, 3, 2], {1: {3}}) == [2, 3, 1, 1, 2]
    assert order(monkeypatch, [3, 1], {1: {3}}) == [3, 1]
    assert order(monkeypatch, [1, 2], {1: {9}}) == [1, 2]


def test_a_chain_stands_in_its_order_of_ranks_behind_the_best_successor(monkeypatch: pytest.MonkeyPatch) -> None:
    assert order(monkeypatch, [1, 2, 3, 4], {1: {2}, 2: {3}}) == [3, 1, 2, 4]


def test_documents_of_a_circle_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    assert order(monkeypatch, [1, 2, 3], {1: {2}, 2: {1}}) == [1, 2, 3]
    assert order(monkeypatch, [1, 2, 3], {1: {2, 3}, 2: {1}}) == [3, 1, 2]


def test_candidates_far_behind_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [1, *range(10, 10 + REORDERED), 3]
    assert order(monkeypatch, documents, {1: {3}}) == documents
