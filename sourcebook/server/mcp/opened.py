"""A knowledge base that is opened when it is needed first."""

import threading
from collections.abc import Callable

from sourcebook.knowledge_base import KnowledgeBase


class OpenedOnce:
    """A knowledge base that is opened by the first request, or before it in a thread of its own.

    A failure is told to each request that meets it; the next one tries again.

    Args:
        open_base: opens it.
    """

    def __init__(self, open_base: Callable[[], KnowledgeBase]) -> None:
        self._open = open_base
        self._lock = threading.Lock()
        self._knowledge: KnowledgeBase | None = None

    def __call__(self) -> KnowledgeBase:
        """Return the knowledge base.

        Raises:
            SourcebookError: it cannot be opened.
        """
        with self._lock:
            if self._knowledge is None:
                self._knowledge = self._open()
            return self._knowledge

    def close(self) -> None:
        """Close it where it was opened."""
        with self._lock:
            if self._knowledge is not None:
                self._knowledge.close()
                self._knowledge = None
