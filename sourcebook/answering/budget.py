"""The budget of a question: what of its tokens and its money is left for the next request to the model."""

from dataclasses import dataclass, field
from typing import Final

from sourcebook.answering.completion import Completion
from sourcebook.config.answering import AnsweringSettings
from sourcebook.embedding.prices import chat_cost
from sourcebook.errors import QueryError

FEWEST_TOKENS: Final = 16
"""Tokens of an answer below which no request is worth it."""


@dataclass(slots=True)
class Budget:
    """Tokens and costs of one question."""

    settings: AnsweringSettings
    provider: str
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cost: float = 0.0
    is_counted: bool = True
    """Whether the server has said the tokens of every request."""
    is_priced: bool = field(default=True)
    """Whether the cost of every request is known."""
    _bound: int = 0
    """Tokens of all requests, those that the server did not count by their bounds."""

    def check(self) -> None:
        """Refuse a limit of cost that cannot be held.

        Raises:
            QueryError: the price of the model is unknown.
        """
        if self.settings.max_cost is not None and self._cost_of(1_000, 1_000) is None:
            raise QueryError(
                f"the price of the model {self.settings.model} is unknown, so that max_cost cannot be held: set "
                "answering.prices of the collection, or install the extra server"
            )

    def room(self, prompt: int) -> int:
        """Return how many tokens the next answer may have; 0 where another request would go beyond a limit.

        Args:
            prompt: tokens of the request, at most.
        """
        settings = self.settings
        left = min(settings.answer_tokens, settings.max_tokens - self._bound - prompt)
        if settings.max_cost is not None:
            money = settings.max_cost - self.cost
            asked = self._cost_of(prompt, 0) or 0.0
            each = ((self._cost_of(prompt, 1_000) or 0.0) - asked) / 1_000
            left = min(left, int((money - asked) / each) if each > 0 else left) if asked <= money else 0
        return left if left >= min(FEWEST_TOKENS, settings.answer_tokens) else 0

    def spend(self, prompt: int, answer: int, completion: Completion | None) -> float | None:
        """Note a request; return its cost in US dollars, None where it is unknown.

        Args:
            prompt: tokens of the request, at most.
            answer: tokens of the answer, at most.
            completion: its end; None where it failed.
        """
        read = completion.prompt_tokens if completion is not None else None
        written = completion.answer_tokens if completion is not None else None
        self.is_counted &= read is not None and written is not None
        self.prompt_tokens += read or 0
        self.answer_tokens += written or 0
        self._bound += (prompt if read is None else read) + (answer if written is None else written)
        known = self._cost_of(read, written)
        self.is_priced &= known is not None
        at_most = self._cost_of(prompt if read is None else read, answer if written is None else written)
        self.cost += at_most or 0.0
        return known

    def _cost_of(self, prompt: int | None, answer: int | None) -> float | None:
        return chat_cost(self.provider, self.settings.model, prompt, answer, self.settings.prices)
