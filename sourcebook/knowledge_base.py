"""The public Python interface: the operations of the table, on a knowledge base that is open here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from sourcebook.operations import answers, searching
from sourcebook.operations.opened import Opened
from sourcebook.operations.table import Operation, Operations

if TYPE_CHECKING:
    from sourcebook.context.context_cache import ContextCache
    from sourcebook.contract.ask_sessions import AskTurn
    from sourcebook.database.database import Database
    from sourcebook.operations.reading_audit import ReadingAudit
    from sourcebook.parsing.reading_child import ReadingChild
    from sourcebook.search.ranking.state import SearchResources


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

    def seen_by(self, principals: Iterable[str]) -> SeenKnowledge:
        """Return this knowledge base as some principals see it: as if there were no other documents.

        It searches and reads documents; it changes nothing. It is open as long as this one.

        Args:
            principals: whom the reader speaks for, such as `user:anna@example.org` and `group:board`; `everyone` is
                always one of them, and so are the groups of the settings that they are members of.

        Raises:
            AccessError: a text is no principal.
            DatabaseError: the database is out of reach, or lacks the role sourcebook_reader.
        """
        from sourcebook.config.principals import principal_set
        from sourcebook.errors import AccessError

        try:
            return SeenKnowledge(self, principal_set(principals))
        except ValueError as error:
            raise AccessError(str(error)) from error

    @staticmethod
    def _method_of(operation: Operation[Any, Any]) -> Callable[..., Any]:
        """Return the function of an operation, which works on this knowledge base."""
        from sourcebook.operations.seen import recorded_function

        return recorded_function(operation)


class SeenKnowledge(KnowledgeBase):
    """A knowledge base as some principals see it: what it answers is as if nothing else were there.

    It shares the models and the connections of the knowledge base that it is of, which closes them.
    """

    principals: frozenset[str]

    def __init__(self, whole: KnowledgeBase, principals: frozenset[str]) -> None:
        from sourcebook.database.seen_connections import SeenDatabase

        self._whole = whole
        self._seen = SeenDatabase(whole.database, principals)
        self._database = self._seen
        self.replica = None
        self.principals = principals

    def seen_by(self, principals: Iterable[str]) -> SeenKnowledge:
        """Refuse: who sees this knowledge base is said already.

        Raises:
            AccessError: always.
        """
        self._refuse("seen_by")

    def embed(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse to embed texts, which is for who looks after the models.

        Raises:
            AccessError: always.
        """
        self._refuse("embed")

    def forget_queries(self) -> None:
        """Refuse to empty the cache that all share.

        Raises:
            AccessError: always.
        """
        self._refuse("forget_queries")

    def close(self) -> None:
        """Leave the connections and models to the knowledge base that this one is of."""

    def release(self) -> None:
        """Leave the models to the knowledge base that this one is of."""

    @property
    def _recording(self) -> ReadingAudit:
        """Recorder of answers, of the whole knowledge base."""
        return self._whole._recording  # noqa: SLF001 - of its own class

    @property
    def _books(self) -> Database:
        return self._whole._books  # noqa: SLF001 - of its own class

    @property
    def _account(self) -> str:
        from sourcebook.model.access import asker_for

        return f"{super()._account} for {asker_for(self.principals).digest}"

    def _turns_of(self, owner: str, session: str) -> list[AskTurn]:
        from sourcebook.answering.kept_sessions import without_hidden

        turns = super()._turns_of(owner, session)
        with self._database.connection() as connection:
            return without_hidden(connection, turns)

    def _ready(self) -> SearchResources:
        return replace(self._whole._ready(), connections=self._seen.seen)  # noqa: SLF001 - of its own class

    def _made_contexts(self) -> ContextCache:
        from sourcebook.context.context_cache import ContextCache

        return ContextCache()

    def _reading_child(self) -> ReadingChild:
        return self._whole._reading_child()  # noqa: SLF001 - of its own class

    @staticmethod
    def _method_of(operation: Operation[Any, Any]) -> Callable[..., Any]:
        from sourcebook.operations.seen import open_function

        return open_function(operation)

    def _refuse(self, name: str) -> NoReturn:
        from sourcebook.errors import AccessError

        raise AccessError(f"{name} is not open to principals: it needs a key without any")
