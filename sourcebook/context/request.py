"""Request of a context: the search, the budget, the format and the tokenizer, checked before anything runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

from sourcebook.context.tokens import TokenCounter, token_counter
from sourcebook.contract.context_results import ContextFormat
from sourcebook.errors import QueryError
from sourcebook.search.request import MOST_RESULTS, SearchRequest

USUAL_TOKENS: Final = 4_000
"""Tokens of a context where a request does not say how many."""
MOST_TOKENS: Final = 1_000_000
_TOKENS_A_PASSAGE: Final = 80
"""Tokens for which one passage is searched: passages have more, and some are duplicates."""
_FEWEST_PASSAGES: Final = 20


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A request whose options are checked."""

    question: str
    search: SearchRequest
    max_tokens: int
    format: ContextFormat
    counter: TokenCounter
    tokenizer: str

    @classmethod
    def checked(
        cls,
        question: str,
        collections: Any = None,
        max_tokens: int = USUAL_TOKENS,
        format: str = "markdown",  # noqa: A002 - the name of the option in every face
        *,
        tokenizer: str | Path | None = None,
        passages: int | None = None,
        may_load: bool = True,
        **options: Any,
    ) -> "ContextRequest":
        """Return the request.

        Args:
            question: see `KnowledgeBase.context`, as for the other arguments.
            collections: names, or one name.
            max_tokens: the budget.
            format: a `ContextFormat`.
            tokenizer: see `token_counter`.
            passages: number of passages to search, at most; one for each 80 tokens where None.
            may_load: whether a tokenizer is read from a folder.
            options: those of `SearchRequest.checked`.

        Raises:
            QueryError: an argument is not allowed.
            ModelError: the tokenizer cannot be read.
            MissingDependencyError: the tokenizer needs a package that is not installed.
        """
        if not _is_whole(max_tokens, MOST_TOKENS):
            raise QueryError(f"max_tokens is {max_tokens!r}; it must be a whole number from 1 to {MOST_TOKENS:,}")
        if format not in get_args(ContextFormat):
            raise QueryError(f"the format is {format!r}; it must be one of {', '.join(get_args(ContextFormat))}")
        if passages is None:
            passages = min(MOST_RESULTS, max(_FEWEST_PASSAGES, max_tokens // _TOKENS_A_PASSAGE))
        elif not _is_whole(passages, MOST_RESULTS):
            raise QueryError(f"passages is {passages!r}; it must be a whole number from 1 to {MOST_RESULTS:,}, or None")
        search = SearchRequest.checked(question, collections, passages, **options)
        counter = token_counter(tokenizer, may_load=may_load)
        return cls(question, search, max_tokens, format, counter, counter.name)  # type: ignore[arg-type]


def _is_whole(value: object, most: int) -> bool:
    """Return whether a value is a whole number from 1 to another one."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
