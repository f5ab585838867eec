"""LangChain: a retriever, and a tool for agents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from sourcebook.answering.tools import SEARCH_OPTIONS
from sourcebook.contract.narrowing import narrowed
from sourcebook.errors import MissingDependencyError, QueryError
from sourcebook.frameworks.passages import Passage
from sourcebook.frameworks.searching import Contexts, Knowledge, Searching, shown, sources_of
from sourcebook.installation import install_command

try:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool
except ModuleNotFoundError as error:
    raise MissingDependencyError(f"langchain-core is not installed: run  {install_command('langchain')}") from error

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun


class SourcebookRetriever(BaseRetriever):
    """Passages of a knowledge base as documents of LangChain.

    `k`, `collections`, `filters` and every other argument of `KnowledgeBase.search` can be given to `invoke` and
    `ainvoke`, too.

    Example:
        >>> retriever = SourcebookRetriever(knowledge=knowledge, k=4)  # doctest: +SKIP
        >>> documents = retriever.invoke("How long do the batteries last?")  # doctest: +SKIP

    Raises:
        QueryError: an argument is unknown or not allowed.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    knowledge: Knowledge
    """The program that opened it closes it."""
    k: int = 5
    """Number of passages."""
    collections: list[str] | str | None = None
    """Names, or one name; every collection where None."""
    filters: Any = None
    """Conditions on the documents: `Filters`, or a mapping such as `{"tags": ["policy"]}`."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of `KnowledgeBase.search`, such as `{"mode": "keyword", "neighbours": 1}`."""
    scores: bool = False
    """Whether `metadata` has `relevance` and `score`: documents of several queries are then no longer equal."""

    def model_post_init(self, context: Any, /) -> None:
        """Check the arguments before the first question comes."""
        super().model_post_init(context)
        self._searching()

    def _get_relevant_documents(
        self, query: str, *, run_manager: "CallbackManagerForRetrieverRun | None" = None, **options: Any
    ) -> list[Document]:
        """Return the passages that answer a query, best first."""
        return self._documents(self._searching().passages(query, **_with_limit(options)))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: "AsyncCallbackManagerForRetrieverRun | None" = None, **options: Any
    ) -> list[Document]:
        """Return the passages without blocking the event loop."""
        return self._documents(await self._searching().passages_async(query, **_with_limit(options)))

    def _searching(self) -> Searching:
        named = {"collections": self.collections, "limit": self.k, "filters": self.filters}
        return Searching(self.knowledge, {**named, **self.options})

    def _documents(self, passages: list[Passage]) -> list[Document]:
        return [
            Document(
                id=each.id,
                page_content=each.text,
                metadata={**each.metadata, "relevance": each.relevance, "score": each.score}
                if self.scores
                else each.metadata,
            )
            for each in passages
        ]


class ToolArguments(BaseModel):
    """Arguments of the tool: what a model may say in any case. Collections and filters are the program's."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=1_000, description="A question in full, or words to look for.")


ToolArgument = Literal["tags", "filters", "neighbours", "limit"]
"""Arguments that a program may allow a model beside the query."""
_LIMIT: Any = (
    Annotated[int, Field(strict=True, ge=1, le=50)] | None,
    Field(default=None, description="Passages to look at, at most."),
)


class SourcebookTool(BaseTool):
    """A tool that reads: it gives a model the passages that answer its question, fenced, numbered and within a budget.

    The message's content is `KnowledgeBase.context`'s text; its artifact has the sources by their numbers, as JSON.

    Raises:
        QueryError: an argument is unknown or not allowed.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    name: str = "search_documents"
    description: str = "Find passages of the user's documents that answer a question, as numbered sources."
    args_schema: type[BaseModel] = ToolArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    knowledge: Knowledge
    """The program that opened it closes it."""
    collections: list[str] | str | None = None
    """Names, or one name; every collection where None."""
    filters: Any = None
    """Conditions on the documents: `Filters`, or a mapping such as `{"tags": ["policy"]}`."""
    arguments: tuple[ToolArgument, ...] = ()
    """Arguments that the model may give beside the query; its tags and filters hold beside `filters`."""
    max_tokens: int = 4_000
    """Tokens of a result, at most."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of `KnowledgeBase.context`, such as `{"format": "xml", "tokenizer": "gpt-4o"}`."""

    def model_post_init(self, context: Any, /) -> None:
        """Check the arguments before the first question comes."""
        super().model_post_init(context)
        self._contexts()
        if self.arguments and self.args_schema is ToolArguments:
            allowed = {"limit": _LIMIT} | {str(name): each for name, each in SEARCH_OPTIONS.items()}
            chosen = {name: allowed[name] for name in self.arguments}
            self.args_schema = create_model("ToolArguments", __base__=ToolArguments, **chosen)

    def _run(self, query: str, **asked: Any) -> tuple[str, dict[str, Any]]:
        """Return the passages as a text for the model, and their sources."""
        try:
            context = self._contexts(**asked).context(query)
        except QueryError as error:
            return self._refused(error, asked)
        return shown(context), sources_of(context)

    async def _arun(self, query: str, **asked: Any) -> tuple[str, dict[str, Any]]:
        """Return the same without blocking the event loop."""
        try:
            context = await self._contexts(**asked).context_async(query)
        except QueryError as error:
            return self._refused(error, asked)
        return shown(context), sources_of(context)

    def _contexts(
        self, tags: Sequence[str] = (), filters: Any = None, neighbours: int = 0, limit: int | None = None
    ) -> Contexts:
        named = {"collections": self.collections, "max_tokens": self.max_tokens, "filters": self.filters}
        given = {**named, **self.options}
        if tags or filters:
            given["filters"] = narrowed(given["filters"], tags, filters)
        return Contexts(self.knowledge, given | _set(neighbours=neighbours, passages=limit))

    def _refused(self, error: QueryError, asked: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return what is wrong with the arguments of a model, which can give others; raise what is the program's."""
        if not any(asked.values()):
            raise error
        return f"This cannot be searched for: {error}", {}


def _set(**options: Any) -> dict[str, Any]:
    """Return options that a model has given."""
    return {name: value for name, value in options.items() if value}


def _with_limit(options: dict[str, Any]) -> dict[str, Any]:
    """Return options of a search, whose limit LangChain calls `k`."""
    return {"limit" if name == "k" else name: value for name, value in options.items()}
