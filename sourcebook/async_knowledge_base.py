"""The public asyncio interface: open a knowledge base and search it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from sourcebook.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from sourcebook.embedding.embedder import QueryEmbedder
    from sourcebook.search.results import SearchResults


class AsyncKnowledgeBase:
    """A knowledge base whose searches are awaited without blocking the event loop.

    Each search runs in a thread of a pool: the database and the models' native code, which take most of its time, let
    other threads run. A cancelled search is not waited for; it ends by itself.

    Example:
        >>> async with await AsyncKnowledgeBase.connect() as knowledge:  # doctest: +SKIP
        ...     hits = await knowledge.search("How long do the batteries last?")
    """

    def __init__(self, knowledge: KnowledgeBase, *, searches_at_once: int = 8) -> None:
        """Wrap a knowledge base, which is closed with this one.

        Args:
            knowledge: the knowledge base.
            searches_at_once: the most searches that run at the same time; further ones wait.
        """
        self._knowledge = knowledge
        self._threads = ThreadPoolExecutor(searches_at_once, thread_name_prefix="sourcebook-search")

    @classmethod
    async def connect(
        cls,
        url: str | None = None,
        *,
        home: str | Path | None = None,
        max_connections: int = 16,
        searches_at_once: int = 8,
        query_embedder: "QueryEmbedder | None" = None,
        lock_timeout: float | None = None,
        statement_timeout: float | None = None,
    ) -> Self:
        """Open a knowledge base; see `KnowledgeBase.connect`."""
        opening = partial(
            KnowledgeBase.connect,
            url,
            home=home,
            max_connections=max_connections,
            query_embedder=query_embedder,
            lock_timeout=lock_timeout,
            statement_timeout=statement_timeout,
        )
        return cls(await asyncio.to_thread(opening), searches_at_once=searches_at_once)

    async def search(self, query: str, *args: Any, **options: Any) -> "SearchResults":
        """Return the passages that answer a query, best first; arguments and errors are `KnowledgeBase.search`'s."""
        results: SearchResults = await self._run(partial(self._knowledge.search, query, *args, **options))
        return results

    async def prewarm(self, *args: Any, **options: Any) -> None:
        """Connect and load the models; see `KnowledgeBase.prewarm`."""
        await self._run(partial(self._knowledge.prewarm, *args, **options))

    async def close(self) -> None:
        """Wait for running searches, and close the knowledge base."""
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._knowledge.close)

    async def __aenter__(self) -> Self:
        """Return it; leaving the block closes it."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()

    async def _run(self, work: "partial[Any]") -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)
