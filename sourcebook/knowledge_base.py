"""The Python face: open a knowledge base and search it."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import DatabaseError

if TYPE_CHECKING:
    from sourcebook.database.database import Database
    from sourcebook.embedding.embedder import QueryEmbedder
    from sourcebook.search.filters import Filters
    from sourcebook.search.fusion import Fusion
    from sourcebook.search.hybrid import Means
    from sourcebook.search.reranking.settings import Reranking
    from sourcebook.search.results import SearchResults

_SEARCHES_AT_ONCE = 16
"""Keyword legs that run at the same time; further searches wait for one of them."""


class KnowledgeBase:
    """A searchable knowledge base. Thread-safe; holds a pool of connections and, once needed, the embedding model.

    Example:
        >>> with KnowledgeBase.connect() as knowledge:  # doctest: +SKIP
        ...     for hit in knowledge.search("How long do the batteries last?"):
        ...         print(hit.title, hit.page, hit.text)
    """

    def __init__(self, database: "Database", *, query_embedder: "QueryEmbedder | None" = None) -> None:
        self._database = database
        self._given = query_embedder
        self._lock = threading.Lock()
        self._means: Means | None = None

    @classmethod
    def connect(
        cls,
        url: str | None = None,
        *,
        home: str | Path | None = None,
        max_connections: int = 16,
        query_embedder: "QueryEmbedder | None" = None,
    ) -> Self:
        """Open a knowledge base.

        Args:
            url: a PostgreSQL URL; without it SOURCEBOOK_DATABASE_URL, else the embedded server of `home`.
            home: the state folder; without it SOURCEBOOK_HOME, else `.sourcebook/` beside the configuration.
            max_connections: the most connections held; a search uses two at once.
            query_embedder: embeds queries in place of the model of each generation.

        Raises:
            DatabaseError: there is none yet, it cannot be reached, is too old, or lacks pgvector.
            MissingDependencyError: no URL is given and the embedded server is not installed.
        """
        from sourcebook.database.database import Database

        location = DatabaseLocation.find(Path(home) if home is not None else _default_home())
        if url is not None:
            location = DatabaseLocation(location.home, url, location.dagster_url)
        if location.url is None and not location.data_folder.exists():
            raise DatabaseError(
                f"there is no knowledge base in {location.home}: run  sourcebook ingest  first, or say where it is "
                "with url=, home=, SOURCEBOOK_DATABASE_URL or SOURCEBOOK_HOME"
            )
        return cls(Database(location, max_connections=max_connections), query_embedder=query_embedder)

    @property
    def database(self) -> "Database":
        """The database that is searched."""
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
        neighbours: int = 0,
        group_by: Literal["document"] | None = None,
        diversity: float = 0.0,
        rerank: "Reranking | str | None" = None,
        literal: bool = False,
        typos: bool = False,
        explain: bool = False,
    ) -> "SearchResults":
        """Return the passages that answer a query, best first.

        Args:
            query: words or a question, at most 10,000 characters. `"a phrase"` must stand in a passage, `-word` and
                `-"a phrase"` must not, `title:word` must stand in the document's title.
            collections: names, or one name; every collection where None.
            limit: how many passages, 1 to 1,000.
            mode: `hybrid` fuses both legs; `vector` goes by meaning alone, `keyword` by words alone.
            offset: how many passages stand before this page, 0 to 10,000; see `SearchResults.next_offset`.
            filters: what the documents must be: `Filters`, or a mapping such as `{"tags": ["policy"]}`.
            fusion: how the legs are joined: `Fusion`, or the name of a method. By default a weighted sum of scores.
            neighbours: how many passages before and after each one come with it, 0 to 20.
            group_by: `document` for one result a document; limit and offset then count documents.
            diversity: 0 to 1: how much results should differ from each other (maximal marginal relevance).
            rerank: a cross encoder that orders the first results anew: `Reranking`, or a model's name or folder.
            literal: take the query as it stands, without operators.
            typos: let words that no passage holds stand for the nearest ones that some do.
            explain: tell how the search went, in `SearchResults.explanation`.

        Raises:
            QueryError: the request makes no sense, or a collection does not exist.
            ModelError: the embedding or the reranking model cannot be loaded.
        """
        from sourcebook.search.hybrid import run_search
        from sourcebook.search.request import SearchRequest

        request = SearchRequest.checked(
            query,
            collections,
            limit,
            mode,
            offset=offset,
            filters=filters,
            fusion=fusion,
            neighbours=neighbours,
            group_by=group_by,
            diversity=diversity,
            rerank=rerank,
            literal=literal,
            typos=typos,
            explain=explain,
        )
        return run_search(self._ready(), request)

    def prewarm(self, collections: Sequence[str] | str | None = None, rerank: "Reranking | str | None" = None) -> None:
        """Do now what the first search would wait for: connect, load models, read the indexes once.

        Args:
            collections: names, or one name; every collection where None.
            rerank: a reranking model that will be asked for.

        Raises:
            QueryError: a collection does not exist.
            ModelError: a model cannot be loaded.
        """
        from sourcebook.search.reranking.settings import Reranking

        if rerank is not None:
            self._ready().reranker.prewarm(Reranking(rerank) if isinstance(rerank, str) else rerank)
        self.search("What is there to know?", collections, limit=1, literal=True)

    def forget_queries(self) -> None:
        """Empty the cache of query vectors, so that each query is embedded anew: for measuring."""
        self._ready().vectors.forget()

    def close(self) -> None:
        """Close every connection, and the embedded server where this process was the last to use it."""
        self.release()
        self._database.close()

    def release(self) -> None:
        """Give back threads and models; the next search takes new ones."""
        with self._lock:
            means, self._means = self._means, None
        if means is not None:
            means.executor.shutdown()
            means.reranker.close()
            means.vectors.close()

    def __enter__(self) -> Self:
        """Return the knowledge base; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _ready(self) -> "Means":
        """Return what searches share; made by the first one, so that opening a knowledge base costs little."""
        with self._lock:
            if self._means is None:
                from sourcebook.search.hybrid import Means
                from sourcebook.search.query_vectors import QueryVectors
                from sourcebook.search.reranking.reranker import Reranker

                self._means = Means(
                    self._database,
                    ThreadPoolExecutor(max_workers=_SEARCHES_AT_ONCE, thread_name_prefix="sourcebook-keyword"),
                    QueryVectors(self._database.location.home, self._given),
                    Reranker(),
                )
            return self._means


def _default_home() -> Path:
    from sourcebook.config.loading import configuration_path, sourcebook_home

    return sourcebook_home(configuration_path())
