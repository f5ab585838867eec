"""Operations that are open to principals."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from sourcebook.errors import AccessError
from sourcebook.operations.table import Operation

OPEN: Final = frozenset(
    {"search", "similar", "context", "ask", "documents", "count_documents", "show", "related", "diff", "original"}
    | {"page_image", "ask_sessions", "ask_session", "forget_ask_session"}
)
"""Operations that principals may ask for: each reads documents, or conversations of their own. All others are for who
looks after the base."""


def open_function(operation: Operation[Any, Any]) -> Callable[..., Any]:
    """Return the function of an operation where principals may ask for it, otherwise one that refuses."""
    if operation.name in OPEN:
        return operation.function

    @wraps(operation.function)
    def refused(*_: Any, **__: Any) -> Any:
        raise AccessError(f"{operation.name} is not open to principals: it needs a key without any")

    return refused
