"""The client has the methods of `KnowledgeBase`, with their arguments."""

import inspect

import pytest

from sourcebook.client import RemoteKnowledgeBase
from sourcebook.knowledge_base import KnowledgeBase

OF_THE_PROCESS = {"connect", "database", "release", "forget_queries", "embed", "seen_by"}
"""What a knowledge base in another process has no part in: how it is opened, its database, its caches; and `embed`,
which the server offers to the clients of others at `/v1/embeddings`; a client speaks for the principals of its key."""
OF_THE_CLIENT = {"follow_work"}
"""What the client has beside: events come from a server."""


def methods(kind: type) -> dict[str, inspect.Signature]:
    return {
        name: inspect.signature(held)
        for name, held in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


def test_the_client_has_every_method() -> None:
    assert set(methods(KnowledgeBase)) - OF_THE_PROCESS == set(methods(RemoteKnowledgeBase)) - OF_THE_CLIENT


@pytest.mark.parametrize("name", sorted(set(methods(KnowledgeBase)) - OF_THE_PROCESS))
def test_a_method_has_the_arguments_of_the_method(name: str) -> None:
    assert str(methods(RemoteKnowledgeBase)[name]) == str(methods(KnowledgeBase)[name])
