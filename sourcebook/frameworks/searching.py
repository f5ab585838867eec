"""Searches and contexts for frameworks, blocking and awaited, over each kind of knowledge base."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.contract.context_results import ContextResult
from sourcebook.contract.fields import declared
from sourcebook.contract.search import ContextRequest, SearchRequest
from sourcebook.contract.search_results import NOTHING_RELEVANT
from sourcebook.errors import QueryError
from sourcebook.frameworks.passages import Passage, passages_of
from sourcebook.knowledge_base import KnowledgeBase

Knowledge: TypeAlias = KnowledgeBase | AsyncKnowledgeBase | RemoteKnowledgeBase
"""A knowledge base of this machine, one for asyncio, or one behind a server. The program that opened it closes it."""


@dataclass(frozen=True, slots=True)
class Searching:
    """Searches of a framework: a knowledge base, and the arguments that each search has.

    Raises:
        QueryError: it is no knowledge base, or an argument is unknown or not allowed.
    """

    knowledge: Knowledge
    options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `KnowledgeBase.search`; one that is None is not given."""

    def __post_init__(self) -> None:
        """Check the arguments before the first question comes."""
        _check_knowledge(self.knowledge)
        check_search(self.options)

    def passages(self, query: str, **options: Any) -> list[Passage]:
        """Return the passages that answer a query, best first; arguments and errors are `KnowledgeBase.search`'s."""
        return passages_of(_blocking(self.knowledge).search(query, **self._given(options)))

    async def passages_async(self, query: str, **options: Any) -> list[Passage]:
        """Return the passages without blocking the event loop."""
        given = self._given(options)
        if isinstance(self.knowledge, AsyncKnowledgeBase):
            return passages_of(await self.knowledge.search(query, **given))
        return passages_of(await asyncio.to_thread(partial(self.knowledge.search, query, **given)))

    def _given(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in {**self.options, **_given(options)}.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Contexts:
    """Contexts for the tool of a framework: a knowledge base, and the arguments that each context has.

    Raises:
        QueryError: it is no knowledge base, or an argument is unknown or not allowed.
    """

    knowledge: Knowledge
    options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `KnowledgeBase.context`; one that is None is not given."""

    def __post_init__(self) -> None:
        """Check the arguments before the first question comes."""
        _check_knowledge(self.knowledge)
        _check(ContextRequest, "question", self.options)

    def context(self, question: str) -> ContextResult:
        """Return the context of a question; errors are those of `KnowledgeBase.context`."""
        return _blocking(self.knowledge).context(question, **_given(self.options))

    async def context_async(self, question: str) -> ContextResult:
        """Return the context without blocking the event loop."""
        given = _given(self.options)
        if isinstance(self.knowledge, AsyncKnowledgeBase):
            return await self.knowledge.context(question, **given)
        return await asyncio.to_thread(partial(self.knowledge.context, question, **given))


def shown(context: ContextResult) -> str:
    """Return a context as a model reads it: its fenced text, or the reason why there is none."""
    if context.nothing_relevant:
        return NOTHING_RELEVANT
    return context.text or "\n".join(context.notes) or NOTHING_RELEVANT


def sources_of(context: ContextResult) -> dict[str, Any]:
    """Return the sources that the text of a context names by their numbers, as plain JSON values."""
    told = context.as_dict()
    sources = [{**each, "runs": [_listed(run) for run in each["runs"]]} for each in told["sources"]]
    return {
        "sources": sources,
        "tokens": context.tokens,
        "nothing_relevant": context.nothing_relevant,
        "notes": list(context.notes),
    }


def _listed(run: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in run.items()}


def _blocking(knowledge: Knowledge) -> KnowledgeBase | RemoteKnowledgeBase:
    return knowledge.knowledge_base if isinstance(knowledge, AsyncKnowledgeBase) else knowledge


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def check_search(options: Mapping[str, Any]) -> None:
    """Check arguments of `KnowledgeBase.search`; one that is None is not given.

    Raises:
        QueryError: an argument is unknown or not allowed.
    """
    _check(SearchRequest, "query", options)


def _check(request: type[SearchRequest | ContextRequest], asked: str, options: Mapping[str, Any]) -> None:
    known = [name for name in declared(request) if name != asked]
    for name in options:
        if name not in known:
            raise QueryError(f"there is no option {name}; there are {', '.join(known)}")
    request.of(**{asked: "Is it allowed?"}, **_given(options))


def _check_knowledge(knowledge: object) -> None:
    if not isinstance(knowledge, KnowledgeBase | AsyncKnowledgeBase | RemoteKnowledgeBase):
        raise QueryError(
            f"the knowledge base is {type(knowledge).__name__}; it must be a KnowledgeBase, an AsyncKnowledgeBase or a "
            "RemoteKnowledgeBase"
        )
