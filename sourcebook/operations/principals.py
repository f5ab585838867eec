"""The keyword by which a reading operation asks for principals."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

if TYPE_CHECKING:
    from sourcebook.operations.opened import Opened

P = ParamSpec("P")
Answer = TypeVar("Answer")
AsPrincipals = list[str] | tuple[str, ...] | AbstractSet[str]
"""Principals of a caller. No text alone, which would be a list of its letters."""
KEYWORD: Final = "as_principals"
"""Argument of every operation that is open to principals, and of no other: each reads documents alone."""


def for_principals(
    function: Callable[Concatenate[Opened, P], Answer],
) -> Callable[Concatenate[Opened, P], Answer]:
    """Let an operation that has the argument `as_principals` see what they see; see `KnowledgeBase.seen_by`."""

    @wraps(function)
    def asked(knowledge: Opened, /, *args: P.args, **options: P.kwargs) -> Answer:
        principals: Any = options.pop(KEYWORD, None)
        return function(knowledge if principals is None else knowledge.seen_by(principals), *args, **options)

    return asked
