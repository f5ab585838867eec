"""Operations that are open to principals."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from sourcebook.errors import AccessError
from sourcebook.operations.audited import audited
from sourcebook.operations.principals import KEYWORD
from sourcebook.operations.table import OPERATIONS, Operation

READING: Final = frozenset(name for name, each in OPERATIONS.items() if KEYWORD in each.arguments)
"""Operations that read documents alone, for principals where they are named."""
OPEN: Final = READING | {"ask_sessions", "ask_session", "forget_ask_session"}
"""Operations that principals may ask for: those, and conversations of their own. All others are for who looks after the
base."""


def recorded_function(operation: Operation[Any, Any]) -> Callable[..., Any]:
    """Return the function of an operation, recorded where it shows documents; `ask` records what its model reads."""
    return audited(operation.function) if operation.name in READING - {"ask"} else operation.function


def open_function(operation: Operation[Any, Any]) -> Callable[..., Any]:
    """Return the function of an operation where principals may ask for it, otherwise one that refuses."""
    if operation.name in OPEN:
        return recorded_function(operation)

    @wraps(operation.function)
    def refused(*_: Any, **__: Any) -> Any:
        raise AccessError(f"{operation.name} is not open to principals: it needs a key without any")

    return refused
