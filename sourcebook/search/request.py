"""What a search may ask for, checked before anything runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sourcebook.errors import QueryError
from sourcebook.search.context import MOST_NEIGHBOURS
from sourcebook.search.filters import Filters
from sourcebook.search.fusion import Fusion, Method
from sourcebook.search.query_language import ParsedQuery, parse_query
from sourcebook.search.reranking.settings import Reranking

Mode = Literal["hybrid", "vector", "keyword"]
Grouping = Literal["document"]

MOST_CHARACTERS = 10_000
MOST_RESULTS = 1_000
LARGEST_OFFSET = 10_000


DEFAULT_FUSION = Fusion()


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A checked search."""

    query: ParsedQuery
    collections: tuple[str, ...] | None
    """None searches every collection."""
    limit: int
    mode: Mode
    offset: int = 0
    filters: Filters | None = None
    fusion: Fusion = DEFAULT_FUSION
    neighbours: int = 0
    group_by: Grouping | None = None
    diversity: float = 0.0
    rerank: Reranking | None = None
    typos: bool = False
    explain: bool = False

    @classmethod
    def checked(
        cls,
        query: str,
        collections: Sequence[str] | str | None = None,
        limit: int = 5,
        mode: str = "hybrid",
        *,
        offset: int = 0,
        filters: Filters | Mapping[str, Any] | None = None,
        fusion: Fusion | str | None = None,
        neighbours: int = 0,
        group_by: str | None = None,
        diversity: float = 0.0,
        rerank: Reranking | str | None = None,
        literal: bool = False,
        typos: bool = False,
        explain: bool = False,
    ) -> "SearchRequest":
        """Return the request, or say what is wrong with it.

        Raises:
            QueryError: the query is empty or too long, a number is out of range, or a word is none of those allowed.
        """
        if not isinstance(query, str):
            raise QueryError(f"the query is {type(query).__name__}; it must be text")
        # NUL and lone surrogates are no text: Postgres cannot hold them, and no document has them.
        text = query.replace("\0", " ").encode("utf-8", "replace").decode().strip()
        if not text:
            raise QueryError("the query is empty: give it at least one word")
        if len(text) > MOST_CHARACTERS:
            raise QueryError(f"the query has {len(text):,} characters, at most {MOST_CHARACTERS:,} are searched")
        for name, value in (("literal", literal), ("typos", typos), ("explain", explain)):
            if not isinstance(value, bool):
                raise QueryError(f"{name} is {value!r}; it must be True or False")
        if mode not in get_args(Mode):
            raise QueryError(f"the mode is {mode!r}; it must be one of {', '.join(get_args(Mode))}")
        if group_by is not None and group_by not in get_args(Grouping):
            raise QueryError(f"group_by is {group_by!r}; it must be {', '.join(get_args(Grouping))}, or None")
        if not _is_number(diversity) or not 0 <= diversity <= 1:
            raise QueryError(f"the diversity is {diversity!r}; it must be 0 to 1")
        return cls(
            parse_query(text, literal=literal),
            _names(collections),
            _whole("limit", limit, 1, MOST_RESULTS),
            mode,  # type: ignore[arg-type]
            _whole("offset", offset, 0, LARGEST_OFFSET),
            Filters.checked(filters),
            _fusion(fusion),
            _whole("neighbours", neighbours, 0, MOST_NEIGHBOURS),
            group_by,  # type: ignore[arg-type]
            float(diversity),
            _reranking(rerank),
            typos,
            explain,
        )


def _fusion(fusion: Fusion | str | None) -> Fusion:
    if isinstance(fusion, str):
        return Fusion(method=fusion)  # type: ignore[arg-type] # it says which there are
    if fusion is None or isinstance(fusion, Fusion):
        return DEFAULT_FUSION if fusion is None else fusion
    raise QueryError(f"the fusion is {fusion!r}; it must be a Fusion or one of {', '.join(get_args(Method))}")


def _reranking(rerank: Reranking | str | None) -> Reranking | None:
    if rerank is None or isinstance(rerank, Reranking):
        return rerank
    if isinstance(rerank, str):
        return Reranking(rerank)
    raise QueryError(f"rerank is {rerank!r}; it must be a Reranking or the name or folder of a model")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(name: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise QueryError(f"the {name} is {value!r}; it must be {least} to {most:,}")
    return value


def _names(collections: Sequence[str] | str | None) -> tuple[str, ...] | None:
    if collections is None:
        return None
    if not isinstance(collections, Iterable):
        raise QueryError(f"the collections are {collections!r}; they must be names")
    names = (collections,) if isinstance(collections, str) else tuple(collections)
    if not names:
        raise QueryError("the list of collections is empty: leave it out to search all of them")
    for name in names:
        if not isinstance(name, str):
            raise QueryError(f"the collection {name!r} is no name")
    return tuple(name.replace("\0", " ").encode("utf-8", "replace").decode() for name in names)
