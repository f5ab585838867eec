"""The public Python interface: the operations of the table, on a knowledge base that is open here."""

from collections.abc import Callable
from typing import Any

from sourcebook.operations import answers, searching
from sourcebook.operations.opened import Opened
from sourcebook.operations.table import Operation, Operations


class KnowledgeBase(Opened, Operations):
    """A searchable knowledge base. Thread-safe; holds a pool of connections and, after the first search, the models.

    `Operations` lists the operations; each says in its function what it does, and its arguments and errors.
    `actor` is the name in the audit, the account of this process by default.

    Example:
        >>> with KnowledgeBase.connect() as knowledge:  # doctest: +SKIP
        ...     for hit in knowledge.search("How long do the batteries last?"):
        ...         print(hit.title, hit.page, hit.text)
    """

    embed = searching.embed
    forget_queries = searching.forget_queries
    ask_stream = answers.ask_stream

    @staticmethod
    def _method_of(operation: Operation[Any, Any]) -> Callable[..., Any]:
        """Return the function of an operation, which works on this knowledge base."""
        return operation.function
