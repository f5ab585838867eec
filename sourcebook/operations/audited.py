"""Recording of answers before they are given: the operations that show documents, and questions to language models."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from sourcebook.config.principals import principal_set
from sourcebook.contract.fields import listed_names
from sourcebook.contract.originals import Original
from sourcebook.model.acting import account, acting_as, present_actor
from sourcebook.model.page_picture import PagePicture
from sourcebook.operations.contents import show
from sourcebook.operations.principals import KEYWORD

if TYPE_CHECKING:
    from sourcebook.contract.answers import AskEvent
    from sourcebook.operations.opened import Opened
    from sourcebook.operations.reading_audit import ShownDocument

P = ParamSpec("P")
Answer = TypeVar("Answer")
_WAITING: ContextVar[list[Callable[[object], None]] | None] = ContextVar("_WAITING", default=None)
"""Records that wait for who reads more than is shown to say which part that is."""


def audited(
    function: Callable[Concatenate[Opened, P], Answer],
) -> Callable[Concatenate[Opened, P], Answer]:
    """Return an operation whose answer is recorded before it is given, where a collection keeps an audit."""
    signature = inspect.signature(function)

    @wraps(function)
    def asked(knowledge: Opened, /, *args: P.args, **options: P.kwargs) -> Answer:
        answer = function(knowledge, *args, **options)
        if knowledge._recording.collections():
            given = signature.bind(knowledge, *args, **options).arguments
            record, waiting = partial(_record, knowledge, function.__name__, given), _WAITING.get()
            if waiting is not None:
                waiting.append(record)
                return answer
            try:
                record(answer)
            except BaseException:
                if isinstance(answer, Original):
                    answer.stream.close()
                raise
        return answer

    return asked


@contextmanager
def read_beyond() -> Iterator[Callable[[object], object]]:
    """Read more than is shown; what is yielded records the part that is, and must be called before it is shown."""
    waiting: list[Callable[[object], None]] = []
    token = _WAITING.set(waiting)
    try:
        yield lambda shown: [record(shown) for record in waiting]
    finally:
        _WAITING.reset(token)


def _record(knowledge: Opened, operation: str, given: dict[str, Any], answer: object) -> None:
    if isinstance(answer, Original | PagePicture):  # bytes that do not say of what they are
        answer = show(knowledge, given["document"], given.get("collection"), as_principals=given.get(KEYWORD))
    principals, collections = given.get(KEYWORD), given.get("collections") or given.get("collection")
    knowledge._recording.record(
        operation,
        documents_in(answer),
        question=given.get("query") or given.get("question"),
        principals=knowledge.principals if principals is None else principal_set(principals),
        asked=listed_names(collections),
    )


def record_reading(knowledge: Opened, operation: str, answer: object) -> None:
    """Record what a function shows that is no operation.

    Raises:
        DatabaseError: it cannot be recorded: it must not be shown.
    """
    if knowledge._recording.collections():
        knowledge._recording.record(operation, documents_in(answer), principals=knowledge.principals)


def documents_in(answer: object) -> Iterator[ShownDocument]:
    """Yield every document that an answer names, whatever its type: what has its id, collection and URI."""
    if isinstance(answer, list | tuple):
        for each in answer:
            yield from documents_in(each)
    elif is_dataclass(answer) and not isinstance(answer, type):
        collection, uri = getattr(answer, "collection", None), getattr(answer, "uri", None)
        if collection is not None and uri is not None and hasattr(answer, "document_id"):
            from sourcebook.operations.reading_audit import ShownDocument

            yield ShownDocument(collection, uri, answer.document_id)
        for field in fields(answer):
            yield from documents_in(getattr(answer, field.name))


class AskedReading:
    """Documents that a language model reads for a question, recorded before a word of the answer is given.

    Args:
        knowledge: as the caller sees it.
        question: the question.
        asked: names of the collections.
    """

    def __init__(self, knowledge: Opened, question: str, asked: Iterable[str]) -> None:
        self._knowledge, self._question, self._asked = knowledge, question, list(asked)
        self._is_kept = bool(knowledge._recording.collections())
        self._actor = present_actor()
        self._waiting: list[ShownDocument] = []
        self._is_recorded = False

    def noting(self, read: Callable[P, Answer]) -> Callable[P, Answer]:
        """Return a function whose answers the model reads."""
        if not self._is_kept:
            return read

        @wraps(read, assigned=())
        def noted(*args: P.args, **options: P.kwargs) -> Answer:
            answer = read(*args, **options)
            self._waiting.extend(documents_in(answer))
            return answer

        return noted

    def recorded(self, events: Iterator[AskEvent]) -> Iterator[AskEvent]:
        """Return events on the way to the answer, before whose words what was read for them is recorded."""
        return self._recorded(events) if self._is_kept else events

    def _recorded(self, events: Iterator[AskEvent]) -> Generator[AskEvent, None, None]:
        from sourcebook.contract.answers import ToolUse

        with closing(events):  # type: ignore[type-var] # it is a generator
            for event in events:
                if not isinstance(event, ToolUse) and (self._waiting or not self._is_recorded):
                    self._record()
                yield event

    def _record(self) -> None:
        shown, self._waiting, self._is_recorded = self._waiting, [], True
        recording, principals = self._knowledge._recording, self._knowledge.principals
        with acting_as(self._actor or account()):
            recording.record("ask", shown, question=self._question, principals=principals, asked=self._asked)
