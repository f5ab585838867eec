"""Contexts for language models from a server."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sourcebook.client.of_the_server import plain_reranking, storable
from sourcebook.errors import QueryError

if TYPE_CHECKING:
    from sourcebook.client.server_connection import ServerConnection
    from sourcebook.contract.context_results import ContextFormat, ContextResult
    from sourcebook.contract.filters import Filters
    from sourcebook.contract.fusion import Fusion
    from sourcebook.contract.reranking import Reranking


class RemoteContexts(ABC):
    """Contexts that a server makes."""

    @property
    @abstractmethod
    def server(self) -> "ServerConnection":
        """The connection to the server."""

    def context(
        self,
        question: str,
        collections: Sequence[str] | str | None = None,
        max_tokens: int = 4_000,
        format: "ContextFormat" = "markdown",  # noqa: A002 - the name of the option in every face
        *,
        tokenizer: str | Path | None = None,
        passages: int | None = None,
        mode: Literal["hybrid", "vector", "keyword"] = "hybrid",
        filters: "Filters | Mapping[str, Any] | None" = None,
        fusion: 'Fusion | Literal["weighted", "rrf"] | None' = None,
        strategy: Literal["fixed", "auto"] = "fixed",
        neighbours: int = 0,
        diversity: float = 0.0,
        rerank: "Reranking | str | None" = None,
        literal: bool | None = None,
        typos: bool = False,
        generation: int | Sequence[int] | None = None,
        min_relevance: float | None = None,
        log: bool = True,
        unredacted: bool = False,
        superseded: Literal["shown", "behind"] = "shown",
        expand: Sequence[str] | str = (),
    ) -> "ContextResult":
        """Return a context for a language model; arguments are `KnowledgeBase.context`'s.

        `tokenizer` is one that the server has: `bound`, an encoding, or a model that `bpe-openai` knows. `rerank` names
        one of the models that the server was started with; `unredacted` needs a key with its scope.

        Raises:
            QueryError: an argument is not allowed, or a collection or a generation does not exist for the key.
            AccessError: the key is missing, not valid, or does not allow searches.
            DatabaseUnavailableError: the server is out of reach, or its database is; a retry can succeed.
            ModelError: a model cannot be loaded on the server.
            DatabaseError: any other failure of the server.
        """
        from sourcebook.client.answers import read
        from sourcebook.context.request import ContextRequest
        from sourcebook.contract.context_results import ContextResult
        from sourcebook.contract.filters import Filters

        if isinstance(tokenizer, Path):
            raise QueryError("a server reads no tokenizer of this machine: name one that it has, such as 'bound'")
        request = ContextRequest.checked(
            question,
            collections,
            max_tokens,
            format,
            tokenizer="bound",
            passages=passages,
            mode=mode,
            filters=filters,
            fusion=fusion,
            strategy=strategy,
            neighbours=neighbours,
            diversity=diversity,
            rerank=rerank,
            literal=literal,
            typos=typos,
            generation=generation,
            min_relevance=min_relevance,
            log=log,
            superseded=superseded,
            expand=expand,
        )
        search = request.search
        body = {
            "question": storable(question),
            "collections": None if search.collections is None else list(search.collections),
            "max_tokens": max_tokens,
            "format": format,
            "tokenizer": tokenizer,
            "passages": passages,
            "mode": mode,
            "filters": (Filters.checked(filters) or Filters()).as_json(),
            "fusion": asdict(search.fusion) if fusion is not None else None,
            "strategy": strategy,
            "neighbours": neighbours,
            "diversity": diversity,
            "rerank": plain_reranking(search.rerank),
            "literal": literal,
            "typos": typos,
            "generation": list(search.generations) or None,
            "min_relevance": min_relevance,
            "log": log,
            "unredacted": unredacted or None,
            "superseded": superseded,
            "expand": search.expand,
        }
        sent = {name: value for name, value in body.items() if value is not None}
        return read(ContextResult, self.server.post("/v1/context", sent))
