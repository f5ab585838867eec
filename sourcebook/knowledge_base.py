"""The Python face: open a knowledge base and search it."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import DatabaseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sourcebook.database.database import Database
    from sourcebook.embedding.embedder import QueryEmbedder
    from sourcebook.search.results import SearchResults
    from sourcebook.search.scope import ScopedGeneration


class KnowledgeBase:
    """A searchable knowledge base. Thread-safe; holds a pool of connections and, once needed, the embedding model.

    Example:
        >>> with KnowledgeBase.connect() as knowledge:  # doctest: +SKIP
        ...     for hit in knowledge.search("How long do the batteries last?"):
        ...         print(hit.title, hit.page, hit.text)
    """

    def __init__(self, database: "Database", *, query_embedder: "QueryEmbedder | None" = None) -> None:
        self._database = database
        self._executor = ThreadPoolExecutor(max_workers=8, thread_name_prefix="sourcebook-keyword")
        self._given = query_embedder
        self._embedders: dict[str, QueryEmbedder] = {}
        self._lock = threading.Lock()

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

    def search(
        self,
        query: str,
        collections: Sequence[str] | str | None = None,
        limit: int = 5,
        mode: Literal["hybrid", "vector", "keyword"] = "hybrid",
    ) -> "SearchResults":
        """Return the passages that answer a query, best first.

        Args:
            query: words or a question, at most 10,000 characters.
            collections: names, or one name; every collection where None.
            limit: how many passages, 1 to 1,000.
            mode: `hybrid` fuses both legs; `vector` goes by meaning alone, `keyword` by words alone.

        Raises:
            QueryError: the request makes no sense, or a collection does not exist.
            ModelError: the embedding model cannot be loaded.
        """
        from sourcebook.search.hybrid import run_search
        from sourcebook.search.request import SearchRequest

        request = SearchRequest.checked(query, collections, limit, mode)
        return run_search(self._database, self._executor, self._embed_query, request)

    def close(self) -> None:
        """Close every connection, and the embedded server where this process was the last to use it."""
        self._executor.shutdown()
        for embedder in self._embedders.values():
            embedder.close()
        self._database.close()

    def __enter__(self) -> Self:
        """Return the knowledge base; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _embed_query(self, generation: "ScopedGeneration", query: str) -> "NDArray[np.float32]":
        if self._given is not None:
            return self._given.embed_query(query)
        with self._lock:
            if generation.model not in self._embedders:
                from sourcebook.embedding.embedder import SentenceTransformerEmbedder
                from sourcebook.embedding.model import find_model

                self._embedders[generation.model] = SentenceTransformerEmbedder(
                    find_model(generation.embedding.model), precision=generation.embedding.precision
                )
        return self._embedders[generation.model].embed_query(query)


def _default_home() -> Path:
    from sourcebook.config import configuration_path, sourcebook_home

    return sourcebook_home(configuration_path())
