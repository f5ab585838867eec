"""The client has the methods of `KnowledgeBase`, with their arguments."""

import inspect

import pytest

from sourcebook.client import RemoteKnowledgeBase
from sourcebook.knowledge_base import KnowledgeBase

OF_THE_PROCESS = {"connect", "database", "release", "forget_queries"}
"""What a knowledge base in another process has no part in: how it is opened, its database, its caches."""
LATER: set[str] = {
    "sources",
    "statistics",
    "usage",
    "plan",
    "judge",
    "judgments",
    "queries",
    "forget_logged_queries",
    "request_work",
    "work",
    "work_requests",
    "cancel_work",
}
"""Methods whose routes do not exist yet."""


def methods(kind: type) -> dict[str, inspect.Signature]:
    return {
        name: inspect.signature(held)
        for name, held in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


def test_the_client_has_every_method() -> None:
    assert set(methods(KnowledgeBase)) - OF_THE_PROCESS - LATER == set(methods(RemoteKnowledgeBase))


@pytest.mark.parametrize("name", sorted(set(methods(KnowledgeBase)) - OF_THE_PROCESS - LATER))
def test_a_method_has_the_arguments_of_the_method(name: str) -> None:
    assert str(methods(RemoteKnowledgeBase)[name]) == str(methods(KnowledgeBase)[name])
