"""Requests of a search and of a context: every option of theirs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypedDict, Unpack, get_args

from sourcebook.config.relation_kinds import RelationKind
from sourcebook.contract.fields import (
    Choice,
    Choices,
    Contained,
    Declared,
    Field,
    Names,
    Numbers,
    Request,
    Share,
    Switch,
    Text,
    Whole,
)
from sourcebook.contract.filters import Filters
from sourcebook.contract.fusion import Fusion, Method
from sourcebook.contract.reranking import Reranking
from sourcebook.errors import QueryError

Mode = Literal["hybrid", "vector", "keyword"]
Grouping = Literal["document"]
SnippetChoice = Literal["words", "meaning"]
StrategyChoice = Literal["fixed", "auto"]
SupersededChoice = Literal["shown", "behind"]
DuplicatesChoice = Literal["fold", "show"]
ContextFormat = Literal["markdown", "xml", "messages", "anthropic", "openai"]

MOST_CHARACTERS: Final = 100_000
"""Characters of a query, at most; of a long one a search condenses what is rare in it."""
MOST_RESULTS: Final = 1_000
"""Results of a page, at most."""
LARGEST_OFFSET: Final = 10_000
"""Results before a page, at most."""
MOST_NEIGHBOURS: Final = 20
"""Passages before and after a result, each, at most."""
MOST_TOKENS: Final = 1_000_000
"""Tokens of a context, at most."""
USUAL_TOKENS: Final = 4_000
"""Tokens of a context where a request does not say how many."""
DEFAULT_FUSION: Final = Fusion()
_RANKING, _SHOWN = "Ranking", "What is shown"


class FilterField(Field):
    """`Filters`, or a mapping of them."""

    def check(self, declared: Declared, value: Any) -> Filters | None:
        return Filters.checked(value)

    def as_json(self, value: Filters | None) -> dict[str, Any] | None:
        return None if value is None else value.as_json()


class FusionField(Field):
    """`Fusion`, or the name of its method; the default where None."""

    def check(self, declared: Declared, value: Any) -> Fusion:
        if isinstance(value, str) and value in get_args(Method):
            return Fusion(method=value)  # type: ignore[arg-type] # it is one of them
        if value is None or isinstance(value, Fusion):
            return DEFAULT_FUSION if value is None else value
        raise self.refuse(declared, value, f"a Fusion or one of {', '.join(get_args(Method))}")

    def as_json(self, value: Fusion) -> dict[str, Any]:
        return asdict(value)


class RerankingField(Field):
    """`Reranking`, or the name or the folder of its model."""

    def check(self, declared: Declared, value: Any) -> Reranking:
        if isinstance(value, str):
            return Reranking(value)
        if isinstance(value, Reranking):
            return value
        raise QueryError(f"rerank is {value!r}; it must be a Reranking or the name or folder of a model")

    def as_json(self, value: Reranking | None) -> dict[str, Any] | None:
        return None if value is None else value.as_json()


class TokenizerField(Field):
    """Name of a tokenizer, or the path of its folder on this machine."""

    def check(self, declared: Declared, value: Any) -> str | Path:
        return value if isinstance(value, Path) else str(value)

    def as_json(self, value: str | Path | None) -> str | None:
        if isinstance(value, Path):
            raise QueryError("a server reads no tokenizer of this machine: name one that it has, such as 'bound'")
        return value


class MeasuringOptions(TypedDict, total=False):
    """Options of a search by which results are compared."""

    min_relevance: float | None
    neighbours: int | None
    log: bool


MEASURING: Final[MeasuringOptions] = {"min_relevance": 0, "neighbours": 0, "log": False}
"""All results, alone, and none in the log of queries."""


class RankingOptions(MeasuringOptions, total=False):
    """Options that a search and a context share; `SearchRequest` says what they mean."""

    filters: Filters | Mapping[str, Any] | None
    fusion: Fusion | Method | None
    strategy: StrategyChoice
    diversity: float
    rerank: Reranking | str | None
    literal: bool | None
    typos: bool
    generation: int | Sequence[int] | None
    unredacted: bool
    superseded: SupersededChoice
    duplicates: DuplicatesChoice
    expand: Sequence[str] | str


class SearchOptions(RankingOptions, total=False):
    """Options of a search."""

    offset: int
    group_by: Grouping | None
    explain: bool
    facets: bool
    snippets: SnippetChoice


ChosenCollections = Annotated[
    tuple[str, ...] | None,
    Names("Only these collections; every one by default.", option="-c/--collection", metavar="NAME"),
]
ChosenDocuments = Annotated[
    Filters | None,
    FilterField(
        "Only documents that match: kind=page, tag=policy, language=de, date>=2024-05, metadata.year>=2020, …",
        option="--filter",
        metavar="KEY=VALUE",
        example={"tags": ["policy"], "language": "en"},
    ),
]
Unredacted = Annotated[bool, Switch("Show personal data and secrets also of collections that redact them.")]


@dataclass(frozen=True, slots=True)
class SearchRequest(Request):
    """A search whose options are checked."""

    query: Annotated[
        str,
        Text(
            "A question, or words to look for.",
            metavar="QUERY",
            most=MOST_CHARACTERS,
            example="How long do batteries last?",
        ),
    ]
    collections: ChosenCollections = None
    limit: Annotated[
        int | None,
        Whole(
            "Maximum number of passages; by default as the collections say, or 5.",
            option="-n/--limit",
            metavar="NUMBER",
            least=1,
            most=MOST_RESULTS,
        ),
    ] = None
    mode: Annotated[Mode, Choice("Vector and keyword search (hybrid), or one of them.")] = "hybrid"
    offset: Annotated[int, Whole("Number of passages before this page.", metavar="NUMBER", most=LARGEST_OFFSET)] = 0
    filters: ChosenDocuments = None
    generation: Annotated[
        tuple[int, ...],
        Numbers("Search these generations instead of the active ones of their collections.", metavar="ID", least=1),
    ] = ()
    literal: Annotated[
        bool | None,
        Switch(
            "Quotes, dashes and title: are text, or operators also in running text. By default the query decides.",
            option="--literal/--operators",
        ),
    ] = None
    typos: Annotated[bool, Switch("Replace words that no passage has by the nearest words that some have.")] = False
    fusion: Annotated[Fusion, FusionField("Join both searches by their scores, or by ranks alone.", panel=_RANKING)] = (
        DEFAULT_FUSION
    )
    strategy: Annotated[
        StrategyChoice,
        Choice(
            "auto: codes, file names and quotes lean on words, several questions are searched one by one.",
            panel=_RANKING,
        ),
    ] = "fixed"
    rerank: Annotated[
        Reranking | None,
        RerankingField(
            "Rerank the first 50 results with a cross-encoder: its folder or its name.", panel=_RANKING, metavar="MODEL"
        ),
    ] = None
    diversity: Annotated[float, Share("Diversity of the results.", panel=_RANKING, metavar="0..1")] = 0.0
    superseded: Annotated[
        SupersededChoice,
        Choice("behind: put documents behind those that supersede them.", panel=_RANKING, bare=True),
    ] = "shown"
    duplicates: Annotated[
        DuplicatesChoice,
        Choice(
            "fold: one result for passages with the same text, which names the other documents that have it.",
            panel=_SHOWN,
            bare=True,
        ),
    ] = "fold"
    neighbours: Annotated[
        int | None,
        Whole(
            "Passages to show before and after each result; > marks the result.",
            panel=_SHOWN,
            metavar="NUMBER",
            most=MOST_NEIGHBOURS,
        ),
    ] = None
    group_by: Annotated[
        Grouping | None,
        Choice("One result a document: its best passage. limit and offset then count documents.", panel=_SHOWN),
    ] = None
    snippets: Annotated[
        SnippetChoice,
        Choice(
            "Of a passage without a word of the query, show the beginning (words), or the sentence nearest in meaning.",
            panel=_SHOWN,
            bare=True,
        ),
    ] = "words"
    facets: Annotated[
        bool, Switch("Count the documents found by kind, type, language, tag and year.", panel=_SHOWN)
    ] = False
    min_relevance: Annotated[
        float | None,
        Share(
            "Only passages of at least this relevance, which is how likely a passage answers.",
            panel=_SHOWN,
            metavar="0..1",
        ),
    ] = None
    expand: Annotated[
        tuple[RelationKind, ...],
        Choices(
            "Name the documents, too, that the results lead to by relations of this kind, such as references.",
            panel=_SHOWN,
            metavar="KIND",
            bare=True,
        ),
    ] = ()
    explain: Annotated[bool, Switch("Show words, weights, times and plans of the search.", panel=_SHOWN)] = False
    unredacted: Unredacted = False
    log: Annotated[bool, Switch("Keep the query in the log of the collections that have one.")] = True

    @classmethod
    def checked(
        cls,
        query: str,
        collections: Sequence[str] | str | None = None,
        limit: int | None = None,
        mode: Mode = "hybrid",
        **options: Unpack[SearchOptions],
    ) -> Self:
        """Return the request.

        Raises:
            QueryError: the query is empty or too long, a number is out of range, or an option has an unknown value.
            TypeError: there is no such option.
        """
        return cls.of(query=query, collections=collections, limit=limit, **{"mode": mode, **options})


class ContextOptions(RankingOptions, total=False):
    """Options of a context."""

    mode: Mode
    tokenizer: str | Path | None
    passages: int | None


@dataclass(frozen=True, slots=True)
class ContextRequest(Request):
    """A context whose options are checked: a search, and what is made of its passages."""

    search: Annotated[SearchRequest, Contained(ContextOptions)]
    max_tokens: Annotated[
        int,
        Whole("Tokens of the context, at most.", option="-t/--max-tokens", metavar="NUMBER", least=1, most=MOST_TOKENS),
    ] = USUAL_TOKENS
    format: Annotated[
        ContextFormat,
        Choice("A text (markdown, xml), or JSON: messages of a chat, blocks for Anthropic or OpenAI."),
    ] = "markdown"
    tokenizer: Annotated[
        str | Path | None,
        TokenizerField(
            "bound, an encoding (o200k_base), a model of OpenAI, or the folder of a model with a tokenizer.json; by "
            "default o200k_base where bpe-openai is installed, else bound.",
            metavar="NAME",
        ),
    ] = None
    passages: Annotated[
        int | None,
        Whole(
            "Number of passages to search at a time; by default by the budget.",
            metavar="NUMBER",
            bare=True,
            least=1,
            most=MOST_RESULTS,
        ),
    ] = None

    @classmethod
    def checked(
        cls,
        question: str,
        collections: Sequence[str] | str | None = None,
        max_tokens: int = USUAL_TOKENS,
        format: ContextFormat = "markdown",  # noqa: A002 - the name of the option in every face
        **options: Unpack[ContextOptions],
    ) -> Self:
        """Return the request; its search is for `passages`, or for as many as the budget may hold.

        Raises:
            QueryError: an argument is not allowed.
            TypeError: there is no such option.
        """
        made = cls.of(question=question, collections=collections, max_tokens=max_tokens, format=format, **options)
        limit = made.passages or min(MOST_RESULTS, max(_FEWEST_PASSAGES, made.max_tokens // _TOKENS_A_PASSAGE))
        return replace(made, search=replace(made.search, limit=limit))


_TOKENS_A_PASSAGE: Final = 80
"""Tokens for which one passage is searched: passages have more, and some are duplicates."""
_FEWEST_PASSAGES: Final = 20
