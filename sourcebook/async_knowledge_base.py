"""The public asyncio interface: the operations of `KnowledgeBase`, awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial, update_wrapper
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from sourcebook.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from sourcebook.contract.answers import AskEvent
    from sourcebook.contract.ask_events import AskEvents
    from sourcebook.embedding.embedder import QueryEmbedder

P = ParamSpec("P")
Answer = TypeVar("Answer")


def awaited(
    operation: Callable[Concatenate[KnowledgeBase, P], Answer],
) -> Callable[Concatenate[AsyncKnowledgeBase, P], Coroutine[Any, Any, Answer]]:
    """Return an operation that runs in a thread of the pool; arguments, answer and errors stay."""

    async def run(self: AsyncKnowledgeBase, /, *args: P.args, **options: P.kwargs) -> Answer:
        return await self.run(partial(operation, self.knowledge_base, *args, **options))

    update_wrapper(run, operation)
    return run


def streamed(
    operation: Callable[Concatenate[KnowledgeBase, P], AskEvents],
) -> Callable[Concatenate[AsyncKnowledgeBase, P], Coroutine[Any, Any, AsyncIterator[AskEvent]]]:
    """Return an operation whose events are awaited one by one."""

    async def run(self: AsyncKnowledgeBase, /, *args: P.args, **options: P.kwargs) -> AsyncIterator[AskEvent]:
        return _pulled(self, await self.run(partial(operation, self.knowledge_base, *args, **options)))

    update_wrapper(run, operation)
    return run


async def _pulled(knowledge: AsyncKnowledgeBase, events: AskEvents) -> AsyncIterator[AskEvent]:
    """Yield events of an iterator that runs in threads of the pool."""
    try:
        while (event := await knowledge.run(partial(next, events, None))) is not None:
            yield event
    finally:
        with suppress(RuntimeError):  # the loop ends
            asyncio.get_running_loop().run_in_executor(None, events.close)  # threads of the pool may all wait


class AsyncKnowledgeBase:
    """A knowledge base whose answers are awaited without blocking the event loop.

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
        query_embedder: QueryEmbedder | None = None,
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

    @property
    def knowledge_base(self) -> KnowledgeBase:
        """The knowledge base that it wraps, whose methods block."""
        return self._knowledge

    search = awaited(KnowledgeBase.search)
    similar = awaited(KnowledgeBase.similar)
    context = awaited(KnowledgeBase.context)
    embed = awaited(KnowledgeBase.embed)
    prewarm = awaited(KnowledgeBase.prewarm)

    ask = awaited(KnowledgeBase.ask)
    tool_schemas = awaited(KnowledgeBase.tool_schemas)
    llm_calls = awaited(KnowledgeBase.llm_calls)
    llm_statistics = awaited(KnowledgeBase.llm_statistics)
    forget_llm_calls = awaited(KnowledgeBase.forget_llm_calls)

    collections = awaited(KnowledgeBase.collections)
    sources = awaited(KnowledgeBase.sources)
    statistics = awaited(KnowledgeBase.statistics)
    documents = awaited(KnowledgeBase.documents)
    show = awaited(KnowledgeBase.show)
    status = awaited(KnowledgeBase.status)
    plan = awaited(KnowledgeBase.plan)
    generations = awaited(KnowledgeBase.generations)

    judge = awaited(KnowledgeBase.judge)
    judgments = awaited(KnowledgeBase.judgments)
    queries = awaited(KnowledgeBase.queries)
    forget_logged_queries = awaited(KnowledgeBase.forget_logged_queries)
    usage = awaited(KnowledgeBase.usage)

    remove_document = awaited(KnowledgeBase.remove_document)
    restore_document = awaited(KnowledgeBase.restore_document)
    change_document = awaited(KnowledgeBase.change_document)
    related = awaited(KnowledgeBase.related)
    original = awaited(KnowledgeBase.original)
    page_image = awaited(KnowledgeBase.page_image)

    upload = awaited(KnowledgeBase.upload)
    uploads = awaited(KnowledgeBase.uploads)
    upload_versions = awaited(KnowledgeBase.upload_versions)
    remove_upload = awaited(KnowledgeBase.remove_upload)

    collection_settings = awaited(KnowledgeBase.collection_settings)
    create_collection = awaited(KnowledgeBase.create_collection)
    change_collection = awaited(KnowledgeBase.change_collection)
    delete_collection = awaited(KnowledgeBase.delete_collection)
    add_source = awaited(KnowledgeBase.add_source)
    remove_source = awaited(KnowledgeBase.remove_source)

    request_work = awaited(KnowledgeBase.request_work)
    work = awaited(KnowledgeBase.work)
    work_requests = awaited(KnowledgeBase.work_requests)
    cancel_work = awaited(KnowledgeBase.cancel_work)

    ask_stream = streamed(KnowledgeBase.ask_stream)

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

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """Return what a function returns that is called in a thread of the pool."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)
