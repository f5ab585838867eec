"""Conversations with a language model that are kept for their caller."""

from dataclasses import dataclass
from datetime import datetime

from sourcebook.model.plain_values import PlainValues


@dataclass(frozen=True, slots=True)
class AskSession(PlainValues):
    """A conversation that is kept."""

    session: str
    """Name that its caller gave it."""
    collections: list[str]
    """Collections that were asked."""
    turns: int
    started_at: datetime
    last_asked_at: datetime
    question: str
    """Its first question that is still kept."""
    expires_at: datetime
    """Time at which the last turn is deleted; earlier turns go before it."""


@dataclass(frozen=True, slots=True)
class AskTurn(PlainValues):
    """A question of a conversation and its answer, as they are kept: as the model got and gave them."""

    question: str
    answer: str
    reason: str | None
    """Reason of a refusal; None of an answer."""
    sources: list[str]
    """Addresses of the passages that the answer cites."""
    collections: list[str]
    """Collections that were asked."""
    asked_at: datetime
