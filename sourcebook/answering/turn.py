"""One turn of a model: how its completion is read, what is left of it, and what a log gets of it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from sourcebook.answering.checked_text import CheckedText
from sourcebook.answering.completion import Completion, ToolCall
from sourcebook.answering.model_client import Message
from sourcebook.providers.failures import ProviderError

_REFUSED_FORM: Final = re.compile(
    r"status 4(?:00|22)\b.*(?:response_format|json_schema|structured)", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the model that has ended."""

    end: Completion
    calls: tuple[ToolCall, ...]
    """Calls that are run; none where the model may call no tool."""
    text: CheckedText | None = None
    """The text, where it was checked sentence by sentence."""

    @property
    def says_no_answer(self) -> bool:
        """Whether the model says that the sources do not answer."""
        return self.text is not None and self.text.says_no_answer


@dataclass(frozen=True, slots=True)
class Call:
    """A request to the model, as the log gets it."""

    turn: int
    messages: list[Message]
    answer: str
    calls: tuple[ToolCall, ...]
    prompt_tokens: int | None
    answer_tokens: int | None
    cost: float | None
    seconds: float
    failure: str | None
    """Sentence where there was no answer; None otherwise."""


class CallLog(Protocol):
    """Keeps the calls of a session."""

    def add(self, session: str, provider: str, call: Call) -> None:
        """Keep a call; a log that cannot be written loses it and says so to nobody but the operator."""


Reading = Callable[[Iterator[str | Completion]], Iterator[str | Turn]]
"""Reader of a completion: yields what may be shown of it while it comes, and then the turn."""


def whole(parts: Iterator[str | Completion]) -> Iterator[str | Turn]:
    """Read a completion of which nothing is shown before its end."""
    for part in parts:
        if isinstance(part, Completion):
            yield Turn(part, part.calls)


def refuses_form(error: ProviderError) -> bool:
    """Return whether a server refuses the form of an answer, not the question."""
    return _REFUSED_FORM.search(str(error)) is not None
