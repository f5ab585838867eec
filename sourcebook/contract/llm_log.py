"""Logged calls of language models."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from sourcebook.contract.fields import Amount, Names, Phrase, Request, Text, Whole
from sourcebook.model.plain_values import TimedValues

_LONGEST: Final = 1_000_000
_LONGEST_NAME: Final = 200
_MOST_DAYS: Final = 36_500


@dataclass(frozen=True, slots=True)
class LlmCallRequest(Request):
    """A call of a program's own to a language model, for the log."""

    model: Annotated[str, Text("Name of the model.", most=_LONGEST_NAME, example="gpt-4o-mini")]
    prompt: Annotated[str, Phrase("What the model read.", most=_LONGEST, example="Summarise the lease.")]
    answer: Annotated[str, Phrase("What it wrote.", most=_LONGEST)] = ""
    failure: Annotated[str | None, Phrase("A sentence, where there was no answer.", most=_LONGEST)] = None
    session: Annotated[
        str | None, Phrase("Name of a conversation, whose calls are counted; a new one by default.", most=_LONGEST_NAME)
    ] = None
    provider: Annotated[
        str | None, Phrase("Name or host of the service; unknown by default.", most=_LONGEST_NAME, example="openai")
    ] = None
    prompt_tokens: Annotated[int | None, Whole("Tokens that the model read.")] = None
    answer_tokens: Annotated[int | None, Whole("Tokens that it wrote.")] = None
    cost: Annotated[
        float | None, Amount("US dollars; by default by the tokens, and by the price where it is known.")
    ] = None
    seconds: Annotated[float | None, Amount("Seconds that it took.")] = None
    collections: Annotated[
        tuple[str, ...] | None,
        Names("Collections that the call was about: with them it goes, and their administrators see it."),
    ] = None
    days: Annotated[int, Whole("Days after which it is deleted.", least=1, most=_MOST_DAYS)] = 30


@dataclass(frozen=True, slots=True)
class LoggedCall(TimedValues):
    """A request to a language model. Prompt, answer and failure are redacted."""

    id: int
    session: str
    """One question, or one conversation of an imported log."""
    turn: int
    """Place in the session, counted from 1."""
    origin: str
    """`ask`, `program` or `import`."""
    collections: list[str]
    """Collections that were asked; none of an imported call."""
    provider: str
    model: str
    prompt: str
    """Messages that this turn added."""
    answer: str
    prompt_tokens: int | None
    """Tokens that the model read; None where nobody counted them."""
    answer_tokens: int | None
    cost: float | None
    """US dollars; None where the price or a number of tokens is unknown."""
    ok: bool
    failure: str | None
    """Sentence where there was no answer."""
    redacted: bool
    """Whether something was replaced by a placeholder."""
    seconds: float | None
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class CallStatistics(TimedValues):
    """Calls of one model, summed up."""

    origin: str
    provider: str
    model: str
    sessions: int
    calls: int
    failed: int
    redacted: int
    """Calls in which something was replaced by a placeholder."""
    prompt_tokens: int | None
    """None where nobody counted some of them."""
    answer_tokens: int | None
    cost: float | None
    """US dollars; None where the cost of a call is unknown."""
    known_cost: float
    """US dollars of the calls whose cost is known."""
    without_cost: int
    """Calls whose cost is unknown."""
    median_seconds: float | None
    first_asked_at: datetime
    last_asked_at: datetime
