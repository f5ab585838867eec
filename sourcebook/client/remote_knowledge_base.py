"""A knowledge base behind a server, with the operations of `KnowledgeBase`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from sourcebook.client import ask_requests, document_requests, other_requests, upload_requests, work_requests
from sourcebook.client.derived import sent
from sourcebook.client.server_connection import ServerConnection
from sourcebook.contract.work import WorkRequest
from sourcebook.model.closing import Closing
from sourcebook.operations import answers
from sourcebook.operations.table import Operation, Operations

_BY_HAND: Final = {
    each.__name__: each
    for each in (
        other_requests.prewarm,
        other_requests.tool_schemas,
        other_requests.plan,
        other_requests.queries,
        other_requests.usage,
        other_requests.change_collection,
        ask_requests.ask,
        document_requests.relabel,
        document_requests.documents,
        document_requests.count_documents,
        document_requests.show,
        document_requests.change_document,
        document_requests.curate_document,
        document_requests.original,
        document_requests.page_image,
        upload_requests.upload,
        upload_requests.uploads,
        upload_requests.upload_versions,
        work_requests.request_work,
        work_requests.work_requests,
    )
}
"""Operations whose way over HTTP the table does not say."""


class RemoteKnowledgeBase(Closing, Operations):
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

    ask_stream = sent(answers.ask_stream, ask_requests.ask_stream)

    @staticmethod
    def _method_of(operation: Operation[Any, Any]) -> Callable[..., Any]:
        """Return an operation that the server does, by hand or as the table says."""
        return sent(operation.function, _BY_HAND.get(operation.name))

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
