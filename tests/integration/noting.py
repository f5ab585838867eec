"""A knowledge base that notes for whom it is asked."""

from collections.abc import Iterable
from typing import Any

from sourcebook.knowledge_base import KnowledgeBase


class Noting(KnowledgeBase):
    """Sees the same for everybody, so that a test of who asks needs no permissions."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.asked: list[frozenset[str]] = []

    def seen_by(self, principals: Iterable[str]) -> Any:
        self.asked.append(frozenset(principals))
        return self
