"""A knowledge base behind a server, with the operations of `KnowledgeBase`."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Self

from sourcebook.client import ask_requests, document_requests, other_requests, upload_requests, work_requests
from sourcebook.client.derived import sent
from sourcebook.client.server_connection import ServerConnection
from sourcebook.contract.work import WorkRequest
from sourcebook.operations import answers, contents, reports, searching
from sourcebook.operations import collections as declarations
from sourcebook.operations import documents as single_documents
from sourcebook.operations import uploads as sent_files
from sourcebook.operations import work as work_requested


class RemoteKnowledgeBase:
    """A knowledge base that `sourcebook serve` opens. Thread-safe.

    Operations, results and errors are those of `KnowledgeBase`; the key names the actor. A server that is away raises
    `DatabaseUnavailableError`, a key that is missing, invalid or not enough `AccessError`. Requests that only read are
    tried three times, and changes are made once although they are sent again.

    Example:
        >>> with RemoteKnowledgeBase("https://knowledge.example", key="sb_…") as knowledge:  # doctest: +SKIP
        ...     for hit in knowledge.search("How long do the batteries last?"):
        ...         print(hit.title, hit.page, hit.text)
    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 30.0) -> None:
        """Prepare; nothing is sent before the first call.

        Args:
            url: the server, such as `http://127.0.0.1:8320`.
            key: a key that `sourcebook key create` made; without it SOURCEBOOK_KEY, else none is sent.
            timeout: seconds without a byte after which an attempt is given up.

        Raises:
            ConfigurationError: the URL, the key or the timeout is none.
            MissingDependencyError: the extra `client` is not installed.
        """
        self._connection = ServerConnection(url, key, timeout=timeout)

    @property
    def server(self) -> ServerConnection:
        """The connection to the server."""
        return self._connection

    @property
    def server_version(self) -> str | None:
        """The version of the server, as its last answer named it; None before the first answer."""
        return self._connection.version.text

    search = sent(searching.search)
    similar = sent(searching.similar, other_requests.similar)
    context = sent(searching.context)
    prewarm = sent(searching.prewarm, other_requests.prewarm)

    ask = sent(answers.ask, ask_requests.ask)
    ask_stream = sent(answers.ask_stream, ask_requests.ask_stream)
    tool_schemas = sent(answers.tool_schemas, other_requests.tool_schemas)
    llm_calls = sent(answers.llm_calls)
    llm_statistics = sent(answers.llm_statistics)
    forget_llm_calls = sent(answers.forget_llm_calls)

    collections = sent(contents.collections)
    sources = sent(contents.sources)
    statistics = sent(contents.statistics)
    documents = sent(contents.documents, document_requests.documents)
    show = sent(contents.show, document_requests.show)
    status = sent(contents.status)
    plan = sent(contents.plan, other_requests.plan)
    generations = sent(contents.generations)

    judge = sent(reports.judge)
    judgments = sent(reports.judgments)
    queries = sent(reports.queries, other_requests.queries)
    forget_logged_queries = sent(reports.forget_logged_queries)
    usage = sent(reports.usage, other_requests.usage)

    remove_document = sent(single_documents.remove_document)
    restore_document = sent(single_documents.restore_document)
    change_document = sent(single_documents.change_document, document_requests.change_document)
    related = sent(single_documents.related)
    original = sent(single_documents.original, document_requests.original)
    page_image = sent(single_documents.page_image, document_requests.page_image)

    upload = sent(sent_files.upload, upload_requests.upload)
    uploads = sent(sent_files.uploads, upload_requests.uploads)
    upload_versions = sent(sent_files.upload_versions, upload_requests.upload_versions)
    remove_upload = sent(sent_files.remove_upload)

    collection_settings = sent(declarations.collection_settings)
    create_collection = sent(declarations.create_collection)
    change_collection = sent(declarations.change_collection, other_requests.change_collection)
    delete_collection = sent(declarations.delete_collection)
    add_source = sent(declarations.add_source)
    remove_source = sent(declarations.remove_source)

    request_work = sent(work_requested.request_work, work_requests.request_work)
    work = sent(work_requested.work)
    work_requests = sent(work_requested.work_requests, work_requests.work_requests)
    cancel_work = sent(work_requested.cancel_work)

    def follow_work(self, number: int) -> Iterator[WorkRequest]:
        """Yield a request as it is now and after each change, until it has ended.

        Changes that come faster than the caller takes them are reported as one. Where the server is away meanwhile, the
        next one is waited for a few seconds.

        Raises:
            QueryError: there is no such request for the key.
            AccessError: the key is not valid, or no longer is.
            DatabaseError: the server fails or is out of reach.
        """
        return work_requests.follow_work(self.server, number)

    def close(self) -> None:
        """Close the connections to the server."""
        self._connection.close()

    def __enter__(self) -> Self:
        """Return the knowledge base; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()
