"""The asyncio interface has what the other one has."""

import inspect

from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.knowledge_base import KnowledgeBase

_NOT_AWAITED = {"forget_queries", "release"}
"""Methods for measurements, and for a process that keeps the knowledge base while it needs no models."""


def test_every_method_is_there_to_be_awaited() -> None:
    methods = {name for name, _ in inspect.getmembers(KnowledgeBase, callable) if not name.startswith("_")}
    missing = [name for name in sorted(methods - _NOT_AWAITED) if not hasattr(AsyncKnowledgeBase, name)]
    assert missing == []
    assert all(inspect.iscoroutinefunction(getattr(AsyncKnowledgeBase, name)) for name in methods - _NOT_AWAITED)
