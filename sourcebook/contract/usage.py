"""Use of models."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from sourcebook.model.plain_values import TimedValues

DIMENSIONS: Final = ("day", "collection", "provider", "model", "operation")
"""Columns that usage is kept by."""


@dataclass(frozen=True, slots=True)
class Usage(TimedValues):
    """Use of models, summed up over what it does not name."""

    day: date | None
    """Day in UTC."""
    collection: str | None
    """Collection; of a search in several the first one that has the model."""
    provider: str | None
    """`local` for models that compute on this machine, else the name or the host of a service."""
    model: str | None
    operation: str | None
    """`embed_passages`, `embed_query`, `embed_sentences` (for `snippets="meaning"`, and before a search finds nothing
    relevant), `rerank`, `transcribe` or `answer`."""
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


def summed(found: Sequence[Usage], by: Sequence[str]) -> list[Usage]:
    """Return sums of usage in the order of their first parts; a sum of something unknown is unknown."""
    sums: dict[tuple[Any, ...], list[Usage]] = {}
    for each in found:
        sums.setdefault(tuple(getattr(each, name) for name in DIMENSIONS if name in by), []).append(each)
    return [_sum(parts, by) for parts in sums.values()]


def _sum(parts: Sequence[Usage], by: Sequence[str]) -> Usage:
    return Usage(
        **{name: getattr(parts[0], name) if name in by else None for name in DIMENSIONS},
        texts=sum(part.texts for part in parts),
        cached=sum(part.cached for part in parts),
        tokens=None if any(part.tokens is None for part in parts) else sum(part.tokens or 0 for part in parts),
        seconds=round(sum(part.seconds for part in parts), 3),
        cost=None if any(part.cost is None for part in parts) else sum(part.cost or 0.0 for part in parts),
        sound_seconds=round(sum(part.sound_seconds for part in parts), 3),
        processor_seconds=None
        if any(part.processor_seconds is None for part in parts)
        else round(sum(part.processor_seconds or 0.0 for part in parts), 3),
        answer_tokens=None
        if any(part.answer_tokens is None for part in parts)
        else sum(part.answer_tokens or 0 for part in parts),
    )
