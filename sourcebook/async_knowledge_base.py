"""The public asyncio interface: the operations of `KnowledgeBase`, awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial, update_wrapper
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.operations import answers, searching
from sourcebook.operations.table import AwaitedFace, Operation, Operations

if TYPE_CHECKING:
    from sourcebook.contract.answers import AskEvent
    from sourcebook.contract.ask_events import AskEvents
    from sourcebook.embedding.embedder import QueryEmbedder
    from sourcebook.operations.opened import Opened

P = ParamSpec("P")
Answer = TypeVar("Answer")


def awaited(
    operation: Callable[Concatenate[Opened, P], Answer],
) -> Callable[Concatenate[AsyncKnowledgeBase, P], Coroutine[Any, Any, Answer]]:
    """Return an operation that runs in a thread of the pool; arguments, answer and errors stay."""

    async def run(self: AsyncKnowledgeBase, /, *args: P.args, **options: P.kwargs) -> Answer:
        return await self.run(partial(operation, self.knowledge_base, *args, **options))

    update_wrapper(run, operation)
    return run


def streamed(
    operation: Callable[Concatenate[Opened, P], AskEvents],
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


class AsyncKnowledgeBase(AwaitedFace, Operations):
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

    embed = awaited(searching.embed)
    ask_stream = streamed(answers.ask_stream)

    @staticmethod
    def _method_of(operation: Operation[P, Answer]) -> Callable[..., Any]:
        """Return the method of the wrapped knowledge base, which runs in a thread of the pool."""

        def asked(knowledge: Opened, *args: P.args, **options: P.kwargs) -> Answer:
            method: Callable[P, Answer] = getattr(knowledge, operation.name)
            return method(*args, **options)

        return awaited(update_wrapper(asked, operation.function))

    async def seen_by(self, principals: Iterable[str]) -> AsyncKnowledgeBase:
        """Return this knowledge base as principals see it; see `KnowledgeBase.seen_by`. Close it before this one."""
        return AsyncKnowledgeBase(await self.run(partial(self._knowledge.seen_by, principals)))

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
