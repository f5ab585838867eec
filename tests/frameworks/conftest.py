"""The knowledge base that tests/integration/test_frameworks.py has filled and serves while these tests run."""

import os
from collections.abc import Iterator

import pytest

from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.frameworks.searching import Knowledge
from sourcebook.knowledge_base import KnowledgeBase

SERVER_VARIABLE = "TEST_FRAMEWORKS_SERVER"
"""Environment variable with the URL of the server; its key is SOURCEBOOK_KEY."""


@pytest.fixture(scope="session")
def served() -> str:
    if SERVER_VARIABLE not in os.environ:
        pytest.skip("tests/integration/test_frameworks.py runs these tests, with a knowledge base")
    return os.environ[SERVER_VARIABLE]


@pytest.fixture(scope="session")
def blocking(served: str) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.connect() as knowledge:
        yield knowledge


@pytest.fixture(scope="session")
def remote(served: str) -> Iterator[RemoteKnowledgeBase]:
    with RemoteKnowledgeBase(served) as knowledge:
        yield knowledge


@pytest.fixture(scope="session", params=["blocking", "awaited", "remote"])
def knowledge(request: pytest.FixtureRequest, blocking: KnowledgeBase, remote: RemoteKnowledgeBase) -> Knowledge:
    """Each kind of knowledge base in turn."""
    kinds: dict[str, Knowledge] = {
        "blocking": blocking,
        "awaited": AsyncKnowledgeBase(blocking),
        "remote": remote,
    }
    return kinds[request.param]
