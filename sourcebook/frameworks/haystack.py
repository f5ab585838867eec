"""Haystack: a retriever component."""

import threading
from typing import Any

from sourcebook.client import RemoteKnowledgeBase
from sourcebook.client.server_connection import KEY_VARIABLE
from sourcebook.errors import ConfigurationError, MissingDependencyError, QueryError
from sourcebook.frameworks.passages import Passage
from sourcebook.frameworks.searching import Knowledge, Searching, check_search
from sourcebook.installation import install_command
from sourcebook.knowledge_base import KnowledgeBase

try:
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.utils import Secret, deserialize_secrets_inplace
except ModuleNotFoundError as error:
    raise MissingDependencyError(f"haystack-ai is not installed: run  {install_command('haystack')}") from error


@component
class SourcebookRetriever:
    """Passages of a knowledge base as documents of Haystack; their score is the relevance, 0 to 1.

    It searches the knowledge base that it is given, or opens one when the pipeline warms up and closes it with the
    pipeline: that of a server, or without `server` the one that `KnowledgeBase.connect()` finds. A pipeline with the
    latter two can be written to YAML and read again.

    Example:
        >>> pipeline.add_component("retriever", SourcebookRetriever(knowledge, top_k=4))  # doctest: +SKIP
    """

    def __init__(
        self,
        knowledge: Knowledge | None = None,
        *,
        server: str | None = None,
        key: Secret | None = None,
        top_k: int = 5,
        collections: list[str] | str | None = None,
        filters: dict[str, Any] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Prepare; nothing is opened or searched.

        Args:
            knowledge: a knowledge base, which the program closes.
            server: in its place, the URL of a server, such as `https://knowledge.example`.
            key: the key of the server; without it SOURCEBOOK_KEY.
            top_k: number of passages.
            collections: names, or one name; every collection where None.
            filters: conditions on the documents, such as `{"tags": ["policy"]}`: those of `KnowledgeBase.search`.
            options: further arguments of `KnowledgeBase.search`, such as `{"mode": "keyword", "neighbours": 1}`.

        Raises:
            QueryError: an argument is unknown or not allowed, or both a knowledge base and a server are given.
        """
        if knowledge is not None and server is not None:
            raise QueryError("a knowledge base and a server are given: leave one of them out")
        self.server = server
        self.key = key or Secret.from_env_var(KEY_VARIABLE, strict=False)
        self.top_k = top_k
        self.collections = collections
        self.filters = filters
        self.options = options or {}
        self._lock = threading.Lock()
        self._knowledge = knowledge
        self._opened: KnowledgeBase | RemoteKnowledgeBase | None = None
        check_search(self._named())
        if knowledge is not None:
            self._searching()

    def warm_up(self) -> None:
        """Open the knowledge base, where none was given."""
        with self._lock:
            if self._knowledge is None and self._opened is None:
                self._opened = self._connect()

    def close(self) -> None:
        """Close the knowledge base, where it opened one; the next question opens it again."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, top_k: int | None = None, filters: dict[str, Any] | None = None
    ) -> dict[str, list[Document]]:
        """Return the passages that answer a query, best first; `filters` replace those of the component."""
        return {"documents": _documents(self._searching().passages(query, limit=top_k, filters=filters))}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, top_k: int | None = None, filters: dict[str, Any] | None = None
    ) -> dict[str, list[Document]]:
        """Return the passages without blocking the event loop."""
        found = await self._searching().passages_async(query, limit=top_k, filters=filters)
        return {"documents": _documents(found)}

    def to_dict(self) -> dict[str, Any]:
        """Return the settings for a pipeline's YAML; of the key the name of its variable.

        Raises:
            ConfigurationError: the component was given an open knowledge base, which no file can hold.
        """
        if self._knowledge is not None:
            raise ConfigurationError(
                "an open knowledge base cannot be written to a file: give SourcebookRetriever a server, or nothing for "
                "the knowledge base of this machine"
            )
        written: dict[str, Any] = default_to_dict(
            self,
            server=self.server,
            key=self.key.to_dict(),
            top_k=self.top_k,
            collections=self.collections,
            filters=self.filters,
            options=self.options,
        )
        return written

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "SourcebookRetriever":
        """Return the component of settings that `to_dict` returned."""
        deserialize_secrets_inplace(data.get("init_parameters", {}), keys=["key"])
        read: SourcebookRetriever = default_from_dict(cls, data)
        return read

    def _named(self) -> dict[str, Any]:
        named = {"collections": self.collections, "limit": self.top_k, "filters": self.filters}
        return {**named, **self.options}

    def _searching(self) -> Searching:
        self.warm_up()
        knowledge = self._knowledge if self._knowledge is not None else self._opened
        assert knowledge is not None  # noqa: S101 - for the type checker
        return Searching(knowledge, self._named())

    def _connect(self) -> KnowledgeBase | RemoteKnowledgeBase:
        if self.server is None:
            return KnowledgeBase.connect()
        return RemoteKnowledgeBase(self.server, self.key.resolve_value())


def _documents(passages: list[Passage]) -> list[Document]:
    return [Document(id=each.id, content=each.text, meta=each.metadata, score=each.relevance) for each in passages]
