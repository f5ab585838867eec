"""A knowledge base behind a server, with the methods of `KnowledgeBase`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from sourcebook.client.of_the_server import plain_reranking, storable
from sourcebook.client.remote_answers import RemoteAnswers
from sourcebook.client.remote_collections import RemoteCollections
from sourcebook.client.remote_contents import RemoteContents
from sourcebook.client.remote_contexts import RemoteContexts
from sourcebook.client.remote_documents import RemoteDocuments
from sourcebook.client.remote_relating import RemoteRelating
from sourcebook.client.remote_reports import RemoteReports
from sourcebook.client.remote_uploads import RemoteUploads
from sourcebook.client.remote_work import RemoteWork
from sourcebook.client.server_connection import ServerConnection

if TYPE_CHECKING:
    from sourcebook.contract.filters import Filters
    from sourcebook.contract.fusion import Fusion
    from sourcebook.contract.reranking import Reranking
    from sourcebook.contract.search_results import SearchResults
    from sourcebook.search.request import SearchRequest


class RemoteKnowledgeBase(
    RemoteContents,
    RemoteReports,
    RemoteWork,
    RemoteCollections,
    RemoteDocuments,
    RemoteRelating,
    RemoteUploads,
    RemoteAnswers,
    RemoteContexts,
):
    """A knowledge base that `sourcebook serve` opens. Thread-safe.

    Methods, results and errors are those of `KnowledgeBase`. A server that is away raises `DatabaseUnavailableError`,
    a key that is missing, invalid or not enough `AccessError`. Requests that only read are tried three times.

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

    def search(
        self,
        query: str,
        collections: Sequence[str] | str | None = None,
        limit: int = 5,
        mode: Literal["hybrid", "vector", "keyword"] = "hybrid",
        *,
        offset: int = 0,
        filters: "Filters | Mapping[str, Any] | None" = None,
        fusion: 'Fusion | Literal["weighted", "rrf"] | None' = None,
        strategy: Literal["fixed", "auto"] = "fixed",
        neighbours: int = 0,
        group_by: Literal["document"] | None = None,
        diversity: float = 0.0,
        rerank: "Reranking | str | None" = None,
        literal: bool | None = None,
        typos: bool = False,
        explain: bool = False,
        generation: int | Sequence[int] | None = None,
        facets: bool = False,
        min_relevance: float | None = None,
        snippets: Literal["words", "meaning"] = "words",
        log: bool = True,
        unredacted: bool = False,
        superseded: Literal["shown", "behind"] = "shown",
        expand: Sequence[str] | str = (),
    ) -> "SearchResults":
        """Return the passages that answer a query, best first; arguments are `KnowledgeBase.search`'s.

        `rerank` names one of the models that the server was started with; `unredacted` needs a key with its scope.

        Raises:
            QueryError: an argument is not allowed, or a collection or a generation does not exist for the key.
            AccessError: the key is missing, not valid, or does not allow searches.
            DatabaseUnavailableError: the server is out of reach, or its database is; a retry can succeed.
            DatabaseBusyError: the database of the server is busy; a retry can succeed.
            ModelError: a model cannot be loaded on the server.
            DatabaseError: any other failure of the server.
        """
        from sourcebook.contract.filters import Filters
        from sourcebook.search.request import SearchRequest

        request = SearchRequest.checked(
            query,
            collections,
            limit,
            mode,
            offset=offset,
            filters=filters,
            fusion=fusion,
            strategy=strategy,
            neighbours=neighbours,
            group_by=group_by,
            diversity=diversity,
            rerank=rerank,
            literal=literal,
            typos=typos,
            explain=explain,
            generation=generation,
            facets=facets,
            min_relevance=min_relevance,
            snippets=snippets,
            log=log,
            superseded=superseded,
            expand=expand,
        )
        body = {
            "query": storable(query),
            "collections": _names(request),
            "limit": limit,
            "mode": mode,
            "offset": offset,
            "filters": (Filters.checked(filters) or Filters()).as_json(),
            "fusion": asdict(request.fusion) if fusion is not None else None,
            "strategy": strategy,
            "neighbours": neighbours,
            "group_by": group_by,
            "diversity": diversity,
            "rerank": plain_reranking(request.rerank),
            "literal": literal,
            "typos": typos,
            "explain": explain,
            "generation": list(request.generations) or None,
            "facets": facets,
            "min_relevance": min_relevance,
            "snippets": snippets,
            "log": log,
            "unredacted": unredacted or None,
            "superseded": superseded,
            "expand": request.expand,
        }
        return self._found("/v1/search", body)

    def similar(
        self,
        document: str | int | Path,
        *,
        passage: int | None = None,
        collection: str | None = None,
        collections: Sequence[str] | str | None = None,
        limit: int = 5,
        filters: "Filters | Mapping[str, Any] | None" = None,
        unredacted: bool = False,
    ) -> "SearchResults":
        """Return the documents most similar to one, or to one of its passages, best first.

        Args:
            document: its id, its URI, or the end of its path; see `KnowledgeBase.similar` for the others.
            passage: place of a passage within the document, counted from 0; the whole document where None.
            collection: name of the document's collection, where several have it.
            collections: names of the collections to search, or one name; every collection where None.
            limit: number of documents, 1 to 1,000.
            filters: conditions on the documents found; see `search`.
            unredacted: whether what the collections redact is shown; it needs a key with the scope `unredacted`.

        Raises:
            UnknownDocumentError: there is no such document for the key, or several collections have it and none is
                named.
            QueryError: the document or the passage is not searchable, or an argument is not allowed.
            AccessError: the key is missing, not valid, or does not allow searches.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.contract.filters import Filters
        from sourcebook.search.request import SearchRequest

        checked = SearchRequest.checked("similar", collections, limit, filters=filters, literal=True)
        body = {
            "document": document if isinstance(document, int) else storable(str(document)),
            "passage": passage,
            "collection": collection,
            "collections": _names(checked),
            "limit": limit,
            "filters": (Filters.checked(filters) or Filters()).as_json(),
            "unredacted": unredacted or None,
        }
        return self._found("/v1/similar", body)

    def prewarm(self, collections: Sequence[str] | str | None = None, rerank: "Reranking | str | None" = None) -> None:
        """Let the server load the models and read the indexes, so that the first search does not wait for it.

        Args:
            collections: names, or one name; every collection where None.
            rerank: a reranking model that later searches use.

        Raises:
            QueryError: a collection does not exist.
            DatabaseError: the server fails or is out of reach.
        """
        self.search("What is there to know?", collections, limit=1, literal=True, log=False, rerank=rerank)

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

    def _found(self, path: str, body: Mapping[str, object]) -> "SearchResults":
        from sourcebook.client.answers import read
        from sourcebook.contract.search_results import SearchResults

        sent = {name: value for name, value in body.items() if value is not None}
        return read(SearchResults, self._connection.post(path, sent))


def _names(request: "SearchRequest") -> list[str] | None:
    return None if request.collections is None else list(request.collections)
