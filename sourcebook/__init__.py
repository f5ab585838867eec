"""Sourcebook: one hybrid-searchable knowledge base in PostgreSQL, kept true by itself.

>>> from sourcebook import KnowledgeBase
>>> with KnowledgeBase.connect() as knowledge:  # doctest: +SKIP
...     hits = knowledge.search("How long do the batteries last?")
"""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sourcebook.async_knowledge_base import AsyncKnowledgeBase as AsyncKnowledgeBase
    from sourcebook.contract.collections import CollectionDeclaration as CollectionDeclaration
    from sourcebook.contract.context_results import ContextResult as ContextResult
    from sourcebook.contract.documents import Document as Document
    from sourcebook.contract.documents import Item as Item
    from sourcebook.contract.filters import Filters as Filters
    from sourcebook.contract.fusion import Fusion as Fusion
    from sourcebook.contract.generations import GenerationState as GenerationState
    from sourcebook.contract.plans import CollectionPlan as CollectionPlan
    from sourcebook.contract.reranking import Reranking as Reranking
    from sourcebook.contract.search_results import SearchResult as SearchResult
    from sourcebook.contract.search_results import SearchResults as SearchResults
    from sourcebook.contract.status import CollectionStatus as CollectionStatus
    from sourcebook.errors import SourcebookError as SourcebookError
    from sourcebook.knowledge_base import KnowledgeBase as KnowledgeBase

__all__ = [
    "AsyncKnowledgeBase",
    "CollectionDeclaration",
    "CollectionPlan",
    "CollectionStatus",
    "ContextResult",
    "Document",
    "Filters",
    "Fusion",
    "GenerationState",
    "Item",
    "KnowledgeBase",
    "Reranking",
    "SearchResult",
    "SearchResults",
    "SourcebookError",
]

_HOMES = {
    "AsyncKnowledgeBase": "sourcebook.async_knowledge_base",
    "KnowledgeBase": "sourcebook.knowledge_base",
    "SourcebookError": "sourcebook.errors",
}


COMPONENT = "Collection"
"""Name of the component for Dagster projects; it needs the pipeline, and is no part of the Python API."""

# Quiet by default: an application that wants the log lines adds a handler of its own.
logging.getLogger("sourcebook").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    """Import the public names when they are first asked for: `import sourcebook` itself costs next to nothing."""
    if name == COMPONENT:
        return getattr(import_module("sourcebook.dagster"), name)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "sourcebook.contract")), name)


def __dir__() -> list[str]:
    """Return the names of the module; `dg` looks among them for components."""
    return sorted({*globals(), *__all__, *([COMPONENT] if "dagster" in sys.modules else [])})
