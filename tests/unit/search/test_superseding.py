"""The order of superseded documents, without a database."""

import random
import time
from types import SimpleNamespace
from typing import Any

import pytest

from sourcebook.search.ranking import superseding
from sourcebook.search.ranking.superseding import REORDERED, behind_successors


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


def test_a_chain_stands_with_its_newest_document_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert order(monkeypatch, [1, 2, 3, 4], {1: {2}, 2: {3}}) == [3, 2, 1, 4]
    assert order(monkeypatch, [2, 1, 2, 4, 3, 1], {1: {2}, 2: {3}}) == [4, 3, 2, 2, 1, 1]


def test_a_document_stands_behind_all_that_supersede_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert order(monkeypatch, [1, 2, 4, 3], {1: {2, 4}, 2: {3}}) == [4, 3, 2, 1]


def test_whatever_the_chains_no_document_stands_before_its_successor(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    for _ in range(300):
        documents = [draw.randrange(8) for _ in range(14)]
        successors = {old: {new for new in range(old + 1, 8) if draw.random() < 0.3} for old in range(8)}
        found = order(monkeypatch, documents, successors)
        assert sorted(found) == sorted(documents)
        for old, later in successors.items():
            assert all(found.index(old) > found.index(new) for new in later if {old, new} <= set(found))


def test_documents_of_a_circle_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    assert order(monkeypatch, [1, 2, 3], {1: {2}, 2: {1}}) == [1, 2, 3]
    assert order(monkeypatch, [1, 2, 3], {1: {2, 3}, 2: {1}}) == [3, 1, 2]


def test_documents_that_all_supersede_each_other_take_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anyone who writes documents may write such ones: 100 of them once took seconds of every search."""
    documents = list(range(REORDERED))
    begun = time.process_time()
    assert order(monkeypatch, documents, {each: {*documents} - {each} for each in documents}) == documents
    assert time.process_time() - begun < 1


def test_candidates_far_behind_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [1, *range(10, 10 + REORDERED), 3]
    assert order(monkeypatch, documents, {1: {3}}) == documents
