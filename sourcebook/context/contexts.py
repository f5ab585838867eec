"""The part of the Python interface that makes contexts for language models."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from sourcebook.context.context_cache import ContextCache
    from sourcebook.contract.context_results import ContextFormat, ContextResult
    from sourcebook.contract.filters import Filters
    from sourcebook.contract.fusion import Fusion
    from sourcebook.contract.reranking import Reranking
    from sourcebook.database.replica import Replica
    from sourcebook.search.ranking.state import SearchResources

_lock = threading.Lock()


class Contexts(ABC):
    """Contexts of a knowledge base, and those that were made before."""

    _contexts: "ContextCache | None" = None
    replica: "Replica | None"

    @abstractmethod
    def _ready(self) -> "SearchResources": ...

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
        """Return the passages that answer a question as a context for a language model, within a budget of tokens.

        Passages are taken by relevance as long as they fit. Neighbours become one text, duplicates and near-duplicates
        are left out, each document has one number and its passages stand in reading order. What comes from documents is
        fenced by a random boundary and made harmless.

        Args:
            question: as in `search`.
            collections: names, or one name; where None, every collection but those that only take documents of others.
            max_tokens: tokens of the context, at most: 1 to 1,000,000.
            format: `markdown` or `xml` for a text; `messages` for the messages of a chat, `anthropic` for content
                blocks with search results, `openai` for input items, each with the question.
            tokenizer: `bound`; an encoding or a model that `bpe-openai` knows, such as `o200k_base` or `gpt-4o`; the
                folder or the Hugging Face name of a model with a tokenizer.json on this machine. Where None,
                `o200k_base` where `bpe-openai` is installed, else `bound`: an upper bound for every model.
            passages: number of passages to search at a time, 1 to 1,000; one for each 80 tokens where None.
            mode: as in `search`, as the following arguments.
            filters: conditions on the documents.
            fusion: `Fusion`, or the name of its method.
            strategy: `auto` lets the form of the question decide.
            neighbours: number of passages before and after each one found that come with it, 0 to 20.
            diversity: weight of the difference between passages, 0 to 1.
            rerank: a cross encoder that reranks the first passages.
            literal: whether quotation marks and dashes are text.
            typos: whether the nearest known words stand in for words that no passage holds.
            generation: ids of generations, or one id, to search in place of the active ones.
            min_relevance: relevance of a passage, 0 to 1, at least. Where None, every passage, or none where no passage
                is relevant: `ContextResult.nothing_relevant` says so.
            log: whether the question enters the query log of the collections that keep one.
            unredacted: whether personal data and secrets are shown also of collections that redact them.
            superseded: `behind` puts documents behind those that supersede them.
            expand: kinds of relations such as `references`; passages of the documents to which the five best ones lead
                get up to a quarter of the budget.

        Raises:
            QueryError: an argument is not allowed, or a collection or a generation does not exist.
            ModelError: a model or the tokenizer cannot be loaded.
            MissingDependencyError: the tokenizer needs a package that is not installed.
            DatabaseError: the database is out of reach or busy.
        """
        from sourcebook.context.context_cache import ContextCache
        from sourcebook.context.make_context import make_context
        from sourcebook.contract.search import ContextRequest
        from sourcebook.search.on_replica import read

        request = ContextRequest.checked(
            question,
            collections,
            max_tokens,
            format,
            tokenizer=tokenizer,
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
            unredacted=unredacted,
            superseded=superseded,
            expand=expand,
        )
        with _lock:
            if self._contexts is None:
                self._contexts = ContextCache()
        resources, cache = self._ready(), self._contexts
        made, behind, note = read(resources, self.replica, lambda given: make_context(given, cache, request))
        if behind is None:
            return made
        return replace(made, seconds_behind=behind, notes=(*made.notes, note) if note else made.notes)
