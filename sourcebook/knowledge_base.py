"""The public Python interface: open a knowledge base, search it, and ask what it holds."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from sourcebook.admin.changes import Changes
from sourcebook.admin.collection_changes import CollectionChanges
from sourcebook.admin.contents import Contents
from sourcebook.admin.document_changes import DocumentChanges
from sourcebook.admin.document_files import DocumentFiles
from sourcebook.admin.relating import Relating
from sourcebook.admin.uploading import Uploading
from sourcebook.answering.asking import Asking
from sourcebook.context.contexts import Contexts
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import QueryError

if TYPE_CHECKING:
    from sourcebook.contract.filters import Filters
    from sourcebook.contract.fusion import Fusion
    from sourcebook.contract.reranking import Reranking
    from sourcebook.contract.search_results import SearchResults
    from sourcebook.contract.text_vectors import TextVectors
    from sourcebook.database.database import Database
    from sourcebook.database.measurement_writer import MeasurementWriter
    from sourcebook.database.pool import ConnectionPool, StatementLimits
    from sourcebook.database.replica import Replica
    from sourcebook.embedding.embedder import QueryEmbedder
    from sourcebook.search.ranking.state import SearchResources

_SEARCHES_AT_ONCE = 16
"""Keyword legs that run at the same time, at most; further ones wait."""


class KnowledgeBase(
    Contents, Changes, CollectionChanges, DocumentChanges, DocumentFiles, Uploading, Contexts, Asking, Relating
):
    """A searchable knowledge base. Thread-safe; holds a pool of connections and, after the first search, the models.

    Example:
        >>> with KnowledgeBase.connect() as knowledge:  # doctest: +SKIP
        ...     for hit in knowledge.search("How long do the batteries last?"):
        ...         print(hit.title, hit.page, hit.text)
    """

    def __init__(
        self,
        database: "Database",
        *,
        query_embedder: "QueryEmbedder | None" = None,
        limits: "StatementLimits | None" = None,
    ) -> None:
        self._database = database
        self._given = query_embedder
        self._limits = limits
        self._lock = threading.Lock()
        self._pool: ConnectionPool | None = None
        self._resources: SearchResources | None = None
        self._writer: MeasurementWriter | None = None
        self.replica: Replica | None = None
        """Replica that searches are sent to, known after the first one."""

    @classmethod
    def connect(
        cls,
        url: str | None = None,
        *,
        home: str | Path | None = None,
        max_connections: int = 16,
        query_embedder: "QueryEmbedder | None" = None,
        lock_timeout: float | None = None,
        statement_timeout: float | None = None,
    ) -> Self:
        """Open a knowledge base.

        Args:
            url: a PostgreSQL URL; without it SOURCEBOOK_DATABASE_URL, else the embedded server of `home`.
            home: the state folder; without it SOURCEBOOK_HOME, else `.sourcebook/` beside the configuration.
            max_connections: the most connections held. A search uses two at once where two are free, else one.
            query_embedder: embeds queries in place of the model of each generation.
            lock_timeout: longest wait of a search for a lock, in seconds; without it SOURCEBOOK_LOCK_TIMEOUT, else 2.
            statement_timeout: longest run of each statement of a search, in seconds; without it
                SOURCEBOOK_STATEMENT_TIMEOUT, else 3.5.

        Raises:
            DatabaseError: there is no knowledge base yet, or its database is out of reach, too old, or lacks pgvector.
            MissingDependencyError: no URL is given and the embedded server is not installed.
        """
        from sourcebook.database.database import Database
        from sourcebook.database.pool import StatementLimits

        limits = StatementLimits.find(lock_timeout, statement_timeout)
        database = Database(DatabaseLocation.existing(url, home), max_connections=max_connections)
        return cls(database, query_embedder=query_embedder, limits=limits)

    @property
    def database(self) -> "Database":
        """The knowledge base's database."""
        return self._database

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
        """Return the passages that answer a query, best first.

        Args:
            query: words or a question, at most 10,000 characters. A passage must hold `"a phrase"`, must not
                hold `-word` and `-"a phrase"`, and its document's title must hold `title:word`.
            collections: names, or one name; where None, every collection but those that only take documents of others.
            limit: number of passages, 1 to 1,000.
            mode: `hybrid` fuses vector search and keyword search; `vector` and `keyword` use one of them alone.
            offset: number of passages before this page, 0 to 10,000; see `SearchResults.next_offset`.
            filters: conditions on the documents: `Filters`, or a mapping such as `{"tags": ["policy"]}`.
            fusion: `Fusion`, or the name of its method; a weighted sum of scores where None.
            strategy: `auto` lets the form of the query decide on weights, parts and reranking.
            neighbours: number of passages before and after each result that come with it, 0 to 20.
            group_by: `document` for one result a document; limit and offset then count documents.
            diversity: weight of the difference between results, 0 to 1 (maximal marginal relevance).
            rerank: a cross encoder that reranks the first results: `Reranking`, or a model's name or folder.
            literal: True for a query without operators; False for one whose operators hold in any case; None decides.
            typos: whether the nearest known words stand in for words that no passage holds.
            explain: whether `SearchResults.explanation` says how the search went.
            generation: ids of generations, or one id, to search in place of the active ones of their collections.
            facets: whether `SearchResults.facets` counts the documents of the first 1,000 passages of each leg.
            min_relevance: least relevance of a result, 0 to 1; where None, all of them, or none where none is relevant.
            snippets: snippet of a passage without words of the query: its beginning, or a sentence near in meaning.
            log: whether the query enters the query log of the collections that keep one (`retention.queries`).
            unredacted: whether personal data and secrets are shown also of collections that redact them.
            superseded: `behind` puts documents behind those that supersede them.
            expand: kinds of relations such as `references`; `SearchResults.linked` has the documents they lead to.

        Raises:
            QueryError: an argument is not allowed, or a collection or a generation does not exist.
            ModelError: the embedding or the reranking model cannot be loaded.
            DatabaseUnavailableError: the database is out of reach; a retry can succeed.
            DatabaseBusyError: a lock, a slow statement or too many searches at once; a retry can succeed.
            DatabaseError: any other failure of the database.
        """
        from sourcebook.contract.search import SearchRequest
        from sourcebook.search.on_replica import search_results
        from sourcebook.search.run import run_search

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
            unredacted=unredacted,
            superseded=superseded,
            expand=expand,
        )
        return search_results(self._ready(), self.replica, lambda resources: run_search(resources, request))

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

        Each result is the passage of another document that is nearest; its scores are cosine similarities.

        Args:
            document: its id, its URI, or the path of its file.
            passage: place of a passage within the document, counted from 0; the whole document where None.
            collection: name of the document's collection, where several have it.
            collections: names of the collections to search, or one name; every collection where None.
            limit: number of documents, 1 to 1,000.
            filters: conditions on the documents found; see `search`.
            unredacted: whether personal data and secrets are shown also of collections that redact them.

        Raises:
            UnknownDocumentError: there is no such document, or several collections have it and none is named.
            QueryError: the document or the passage is not searchable, or an argument is not allowed.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.contract.search import SearchRequest
        from sourcebook.search.on_replica import search_results
        from sourcebook.search.similar import SimilarRequest, similar_on

        checked = SearchRequest.checked("similar", collections, limit, filters=filters, literal=True)
        found = self.show(document, collection).item.document_id
        if found is None:
            raise QueryError(f"{document} is not searchable: it has not become a document yet")
        request = SimilarRequest(found, passage, checked.collections, checked.limit, checked.filters, unredacted)
        return search_results(self._ready(), self.replica, lambda resources: similar_on(resources, request))

    def embed(
        self,
        texts: Sequence[str],
        model: str | None = None,
        *,
        collections: Sequence[str] | str | None = None,
        as_queries: bool = False,
    ) -> "TextVectors":
        """Return vectors of texts of the program's own, by a model of the knowledge base.

        Args:
            texts: 1 to 2,048 texts; longer ones than the model reads are truncated.
            model: name of a model that a collection uses; that of the first collection where None.
            collections: names of the collections whose models are meant, or one name; every collection where None.
            as_queries: whether the texts are queries, which some models embed in another way than passages.

        Raises:
            QueryError: an argument is not allowed, or a collection does not exist or none has the model.
            ModelError: the model cannot be loaded.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.contract.fields import checked_names
        from sourcebook.search.embed_texts import embed_texts
        from sourcebook.search.scope import find_scope

        resources = self._ready()
        with resources.connections.hold() as held:
            scope = find_scope(held.connection, checked_names(collections))
        return embed_texts(resources.vectors, scope, texts, model, as_queries=as_queries)

    def prewarm(self, collections: Sequence[str] | str | None = None, rerank: "Reranking | str | None" = None) -> None:
        """Connect, load the models and read the indexes once, so that the first search does not wait for it.

        Args:
            collections: names, or one name; every collection where None.
            rerank: a reranking model that later searches use.

        Raises:
            QueryError: a collection does not exist.
            ModelError: a model cannot be loaded.
        """
        from sourcebook.contract.reranking import Reranking

        if rerank is not None:
            self._ready().reranker.prewarm(Reranking(rerank) if isinstance(rerank, str) else rerank)
        self.search("What is there to know?", collections, limit=1, literal=True, log=False)

    def forget_queries(self) -> None:
        """Empty the cache of query vectors: each query is embedded again. For measurements."""
        self._ready().vectors.forget()

    def close(self) -> None:
        """Close every connection, and stop the embedded server where no other process uses it."""
        self.release()
        self._database.close()

    def release(self) -> None:
        """Release threads and models; the next search takes new ones."""
        with self._lock:
            resources, self._resources = self._resources, None
            pool, self._pool = self._pool, None
            writer, self._writer = self._writer, None
            replica, self.replica = self.replica, None
        self._close_reading_child()
        if resources is not None:
            resources.executor.shutdown()
            resources.reranker.close()
            resources.vectors.close()
        if writer is not None:
            writer.close()
        for opened in (pool, replica):
            if opened is not None:
                opened.close()

    def __enter__(self) -> Self:
        """Return the knowledge base; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _ready(self) -> "SearchResources":
        """Return the resources that searches share, made by the first one so that opening costs little."""
        with self._lock:
            if self._resources is None:
                from sourcebook.database.measurement_writer import MeasurementWriter
                from sourcebook.database.usage_log import UsageLog
                from sourcebook.search.query_vectors import QueryVectors
                from sourcebook.search.ranking.reranking.reranker import Reranker
                from sourcebook.search.ranking.state import SearchResources

                if self._pool is None:
                    from sourcebook.database.pool import StatementLimits
                    from sourcebook.database.replica import find_replica

                    limits = self._limits or StatementLimits.find()
                    self.replica = find_replica(self._database, limits)
                    self._pool = self._database.new_pool(self._database.pool.max_size, limits)
                usage = UsageLog()
                self._resources = SearchResources(
                    self._pool,
                    ThreadPoolExecutor(max_workers=_SEARCHES_AT_ONCE, thread_name_prefix="sourcebook-keyword"),
                    QueryVectors(self._database.location.home, self._given, self._database.connection, usage),
                    Reranker(usage),
                    usage=usage,
                )
                self._writer = MeasurementWriter(self._pool, self._resources.query_log, usage)
                self._writer.start()
            return self._resources
