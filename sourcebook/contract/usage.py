"""Use of models."""

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Final

DIMENSIONS: Final = ("day", "collection", "provider", "model", "operation")
"""Columns that usage is kept by."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Use of models, summed up over what it does not name."""

    day: date | None
    """Day in UTC."""
    collection: str | None
    """Collection; of a search in several the first one that has the model."""
    provider: str | None
    """`local` for models that compute on this machine, else the name or the host of a service."""
    model: str | None
    operation: str | None
    """`embed_passages`, `embed_query`, `embed_sentences` (for `snippets="meaning"`), `rerank`, `transcribe` or
    `answer`."""
    texts: int
    """Texts that were asked for; for `rerank` pairs of a query and a passage, for `transcribe` recordings, for `answer`
    requests to the model."""
    cached: int
    """Texts among them that the model did not see, as a cache had their result."""
    tokens: int | None
    """Tokens that the model read; None where nobody counted some of them."""
    seconds: float
    """Seconds that the model took."""
    cost: float | None
    """US dollars; 0 for local models, None where the price or the number of tokens is unknown."""
    sound_seconds: float = 0.0
    """Seconds of sound that the model heard."""
    processor_seconds: float | None = None
    """Processor time that the model took, of all threads; None where nobody measured some of it."""
    answer_tokens: int | None = 0
    """Tokens that the model wrote, which no embedding model does; None where nobody counted some of them."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; the day as ISO 8601."""
        return {**asdict(self), "day": None if self.day is None else self.day.isoformat()}
