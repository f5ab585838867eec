"""The public asyncio interface: open a knowledge base, search it, and ask what it holds."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from sourcebook.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from sourcebook.contract.answers import Answer as ModelAnswer
    from sourcebook.contract.answers import AskEvent
    from sourcebook.contract.ask_events import AskEvents
    from sourcebook.contract.collections import (
        CollectionDeclaration,
        CollectionSources,
        CollectionStatistics,
        CollectionSummary,
    )
    from sourcebook.contract.context_results import ContextResult
    from sourcebook.contract.documents import Document, Item, RemovedItem
    from sourcebook.contract.generations import GenerationState
    from sourcebook.contract.judgments import RecordedJudgment
    from sourcebook.contract.llm_log import CallStatistics, LoggedCall
    from sourcebook.contract.originals import Original
    from sourcebook.contract.plans import CollectionPlan
    from sourcebook.contract.query_log import LoggedQuery
    from sourcebook.contract.relations import RelatedDocument
    from sourcebook.contract.search_results import SearchResults
    from sourcebook.contract.status import CollectionStatus
    from sourcebook.contract.text_vectors import TextVectors
    from sourcebook.contract.uploads import Upload
    from sourcebook.contract.usage import Usage
    from sourcebook.contract.work import WorkRequest
    from sourcebook.embedding.embedder import QueryEmbedder
    from sourcebook.model.page_picture import PagePicture

Answer = TypeVar("Answer")


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

    @property
    def knowledge_base(self) -> KnowledgeBase:
        """The knowledge base that it wraps, whose methods block."""
        return self._knowledge

    async def search(self, query: str, *args: Any, **options: Any) -> "SearchResults":
        """Return the passages that answer a query, best first; arguments and errors are `KnowledgeBase.search`'s."""
        return await self._run(partial(self._knowledge.search, query, *args, **options))

    async def context(self, question: str, *args: Any, **options: Any) -> "ContextResult":
        """Return a context for a language model; arguments and errors are `KnowledgeBase.context`'s."""
        return await self._run(partial(self._knowledge.context, question, *args, **options))

    async def similar(self, *args: Any, **options: Any) -> "SearchResults":
        """Return the documents most similar to one; see `KnowledgeBase.similar`."""
        return await self._run(partial(self._knowledge.similar, *args, **options))

    async def embed(self, *args: Any, **options: Any) -> "TextVectors":
        """Return vectors of texts; see `KnowledgeBase.embed`."""
        return await self._run(partial(self._knowledge.embed, *args, **options))

    async def judge(self, *args: Any, **options: Any) -> None:
        """Record how well a document answers a query; see `KnowledgeBase.judge`."""
        await self._run(partial(self._knowledge.judge, *args, **options))

    async def judgments(self, *args: Any, **options: Any) -> "list[RecordedJudgment]":
        """Return the recorded judgments; see `KnowledgeBase.judgments`."""
        return await self._run(partial(self._knowledge.judgments, *args, **options))

    async def queries(self, *args: Any, **options: Any) -> "list[LoggedQuery]":
        """Return the queries of the query log; see `KnowledgeBase.queries`."""
        return await self._run(partial(self._knowledge.queries, *args, **options))

    async def forget_logged_queries(self, *args: Any, **options: Any) -> int:
        """Delete queries from the query log; see `KnowledgeBase.forget_logged_queries`."""
        return await self._run(partial(self._knowledge.forget_logged_queries, *args, **options))

    async def collections(self) -> "list[CollectionSummary]":
        """Return what each collection holds; see `KnowledgeBase.collections`."""
        return await self._run(partial(self._knowledge.collections))

    async def sources(self, *args: Any, **options: Any) -> "list[CollectionSources]":
        """Return the sources of each collection; see `KnowledgeBase.sources`."""
        return await self._run(partial(self._knowledge.sources, *args, **options))

    async def statistics(self, *args: Any, **options: Any) -> "list[CollectionStatistics]":
        """Return counts of each collection; see `KnowledgeBase.statistics`."""
        return await self._run(partial(self._knowledge.statistics, *args, **options))

    async def documents(self, *args: Any, **options: Any) -> "list[Item]":
        """Return documents with their states; see `KnowledgeBase.documents`."""
        return await self._run(partial(self._knowledge.documents, *args, **options))

    async def show(self, *args: Any, **options: Any) -> "Document":
        """Return one document with its text and its passages; see `KnowledgeBase.show`."""
        return await self._run(partial(self._knowledge.show, *args, **options))

    async def related(self, *args: Any, **options: Any) -> "list[RelatedDocument]":
        """Return what a document is related to; see `KnowledgeBase.related`."""
        return await self._run(partial(self._knowledge.related, *args, **options))

    async def status(self, *args: Any, **options: Any) -> "list[CollectionStatus]":
        """Return the state of each collection; see `KnowledgeBase.status`."""
        return await self._run(partial(self._knowledge.status, *args, **options))

    async def usage(self, *args: Any, **options: Any) -> "list[Usage]":
        """Return what models were used for; see `KnowledgeBase.usage`."""
        return await self._run(partial(self._knowledge.usage, *args, **options))

    async def plan(self, *args: Any, **options: Any) -> "list[CollectionPlan]":
        """Return what the next ingest of each collection would do; see `KnowledgeBase.plan`."""
        return await self._run(partial(self._knowledge.plan, *args, **options))

    async def generations(self, *args: Any, **options: Any) -> "list[GenerationState]":
        """Return the generations of collections; see `KnowledgeBase.generations`."""
        return await self._run(partial(self._knowledge.generations, *args, **options))

    async def request_work(self, *args: Any, **options: Any) -> "WorkRequest":
        """Ask for a collection to be brought up to date; see `KnowledgeBase.request_work`."""
        return await self._run(partial(self._knowledge.request_work, *args, **options))

    async def work(self, number: int) -> "WorkRequest | None":
        """Return a request for work; see `KnowledgeBase.work`."""
        return await self._run(partial(self._knowledge.work, number))

    async def work_requests(self, *args: Any, **options: Any) -> "list[WorkRequest]":
        """Return requests for work, the newest first; see `KnowledgeBase.work_requests`."""
        return await self._run(partial(self._knowledge.work_requests, *args, **options))

    async def cancel_work(self, *args: Any, **options: Any) -> "WorkRequest | None":
        """Cancel a request for work; see `KnowledgeBase.cancel_work`."""
        return await self._run(partial(self._knowledge.cancel_work, *args, **options))

    async def upload(self, *args: Any, **options: Any) -> "Upload":
        """Store bytes under a name; see `KnowledgeBase.upload`."""
        return await self._run(partial(self._knowledge.upload, *args, **options))

    async def uploads(self, *args: Any, **options: Any) -> "list[Upload]":
        """Return the present version of each upload; see `KnowledgeBase.uploads`."""
        return await self._run(partial(self._knowledge.uploads, *args, **options))

    async def upload_versions(self, *args: Any, **options: Any) -> "list[Upload]":
        """Return every version of an upload; see `KnowledgeBase.upload_versions`."""
        return await self._run(partial(self._knowledge.upload_versions, *args, **options))

    async def remove_upload(self, *args: Any, **options: Any) -> "Upload":
        """Remove an upload; see `KnowledgeBase.remove_upload`."""
        return await self._run(partial(self._knowledge.remove_upload, *args, **options))

    async def collection_settings(self, name: str) -> "CollectionDeclaration":
        """Return the settings of a collection; see `KnowledgeBase.collection_settings`."""
        return await self._run(partial(self._knowledge.collection_settings, name))

    async def create_collection(self, *args: Any, **options: Any) -> "CollectionDeclaration":
        """Make a collection; see `KnowledgeBase.create_collection`."""
        return await self._run(partial(self._knowledge.create_collection, *args, **options))

    async def change_collection(self, *args: Any, **options: Any) -> "CollectionDeclaration":
        """Change settings of a collection; see `KnowledgeBase.change_collection`."""
        return await self._run(partial(self._knowledge.change_collection, *args, **options))

    async def delete_collection(self, *args: Any, **options: Any) -> None:
        """Delete a collection; see `KnowledgeBase.delete_collection`."""
        await self._run(partial(self._knowledge.delete_collection, *args, **options))

    async def add_source(self, *args: Any, **options: Any) -> "CollectionDeclaration":
        """Add a source to a collection; see `KnowledgeBase.add_source`."""
        return await self._run(partial(self._knowledge.add_source, *args, **options))

    async def remove_source(self, *args: Any, **options: Any) -> None:
        """Remove a source from a collection; see `KnowledgeBase.remove_source`."""
        await self._run(partial(self._knowledge.remove_source, *args, **options))

    async def remove_document(self, *args: Any, **options: Any) -> "list[RemovedItem]":
        """Remove a document although its source still has it; see `KnowledgeBase.remove_document`."""
        return await self._run(partial(self._knowledge.remove_document, *args, **options))

    async def restore_document(self, *args: Any, **options: Any) -> "list[RemovedItem]":
        """Undo `remove_document`; see `KnowledgeBase.restore_document`."""
        return await self._run(partial(self._knowledge.restore_document, *args, **options))

    async def change_document(self, *args: Any, **options: Any) -> "Document":
        """Give a document tags and metadata by hand; see `KnowledgeBase.change_document`."""
        return await self._run(partial(self._knowledge.change_document, *args, **options))

    async def original(self, *args: Any, **options: Any) -> "Original":
        """Open the bytes that a document was made from; see `KnowledgeBase.original`."""
        return await self._run(partial(self._knowledge.original, *args, **options))

    async def page_image(self, *args: Any, **options: Any) -> "PagePicture":
        """Return a page of a PDF as a picture; see `KnowledgeBase.page_image`."""
        return await self._run(partial(self._knowledge.page_image, *args, **options))

    async def ask(self, *args: Any, **options: Any) -> "ModelAnswer":
        """Return the answer of a language model; see `KnowledgeBase.ask`."""
        return await self._run(partial(self._knowledge.ask, *args, **options))

    async def ask_stream(self, *args: Any, **options: Any) -> "AsyncIterator[AskEvent]":
        """Return an iterator of what happens on the way to an answer; see `KnowledgeBase.ask_stream`."""
        return self._pulled(await self._run(partial(self._knowledge.ask_stream, *args, **options)))

    async def tool_schemas(self, *args: Any, **options: Any) -> list[dict[str, Any]]:
        """Return the tools of a language model; see `KnowledgeBase.tool_schemas`."""
        return self._knowledge.tool_schemas(*args, **options)

    async def llm_calls(self, *args: Any, **options: Any) -> "list[LoggedCall]":
        """Return logged calls of language models; see `KnowledgeBase.llm_calls`."""
        return await self._run(partial(self._knowledge.llm_calls, *args, **options))

    async def llm_statistics(self, *args: Any, **options: Any) -> "list[CallStatistics]":
        """Return sums of logged calls of language models; see `KnowledgeBase.llm_statistics`."""
        return await self._run(partial(self._knowledge.llm_statistics, *args, **options))

    async def forget_llm_calls(self, *args: Any, **options: Any) -> int:
        """Delete logged calls of language models; see `KnowledgeBase.forget_llm_calls`."""
        return await self._run(partial(self._knowledge.forget_llm_calls, *args, **options))

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

    async def _pulled(self, events: "AskEvents") -> "AsyncIterator[AskEvent]":
        """Yield events of an iterator that runs in threads of the pool."""
        try:
            while (event := await self._run(partial(next, events, None))) is not None:
                yield event
        finally:
            with suppress(RuntimeError):  # the loop ends
                asyncio.get_running_loop().run_in_executor(None, events.close)  # threads of the pool may all wait

    async def _run(self, work: "partial[Answer]") -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)
