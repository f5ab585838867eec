"""What a search may ask for, checked before anything runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sourcebook.errors import QueryError

Mode = Literal["hybrid", "vector", "keyword"]

MOST_CHARACTERS = 10_000
MOST_RESULTS = 1_000


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A checked search.

    Raises:
        QueryError: the query is empty or too long, the limit is out of range, or the mode is none.
    """

    query: str
    collections: tuple[str, ...] | None
    """None searches every collection."""
    limit: int
    mode: Mode

    @classmethod
    def checked(cls, query: str, collections: Sequence[str] | str | None, limit: int, mode: str) -> "SearchRequest":
        """Return the request, or say what is wrong with it."""
        # NUL and lone surrogates are no text: Postgres cannot hold them, and no document has them.
        text = query.replace("\0", " ").encode("utf-8", "replace").decode().strip()
        if not text:
            raise QueryError("the query is empty: give it at least one word")
        if len(text) > MOST_CHARACTERS:
            raise QueryError(f"the query has {len(text):,} characters, at most {MOST_CHARACTERS:,} are searched")
        if not 1 <= limit <= MOST_RESULTS:
            raise QueryError(f"the limit is {limit}; it must be 1 to {MOST_RESULTS:,}")
        if mode not in get_args(Mode):
            raise QueryError(f"the mode is {mode!r}; it must be one of {', '.join(get_args(Mode))}")
        names = (collections,) if isinstance(collections, str) else collections
        if names is not None and not names:
            raise QueryError("the list of collections is empty: leave it out to search all of them")
        return cls(text, None if names is None else tuple(names), limit, mode)  # type: ignore[arg-type]

    @property
    def depth(self) -> int:
        """How many candidates each leg brings to the fusion."""
        return max(100, 2 * self.limit)
