"""Use of an embedding model by one run over the passages of a generation."""

from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.embedding.metering import BusySeconds, meter_of, metered_model, provider_of, provider_of_settings
from sourcebook.embedding.prices import cost
from sourcebook.model.generation import Generation
from sourcebook.model.usage import EMBED_PASSAGES, LOCAL, Use


def reused_vectors(generation: Generation, texts: int) -> Use:
    """Return the use of texts whose vectors the ledger had."""
    settings = generation.embedding_settings
    return _use(generation, provider_of_settings(settings), texts, cached=texts)


class PassageUse:
    """Use of its embedder by a run, batch by batch, and in all.

    The tokens of a local model are those that were counted when the passages were cut; a service counts its own.
    """

    def __init__(self, generation: Generation, embedder: object) -> None:
        self._generation = generation
        self._provider = provider_of(embedder)
        self._meter = meter_of(embedder)
        self._seconds = BusySeconds()
        if self._meter is not None:
            self._meter.take_all()  # what was used for something else
        self.tokens: int | None = 0
        """Tokens of all batches so far; None where nobody counted some."""

    def watch(self, started: float, batch: Future[Any]) -> None:
        """Note a batch that was submitted at a time of `time.monotonic()`."""
        self._seconds.watch(started, batch)

    def of(self, batch: Future[Any], texts: int, counted: int) -> Use:
        """Return the use of a batch that is computed.

        Args:
            batch: its future.
            texts: number of its texts.
            counted: their tokens by the tokenizer that cut them.
        """
        return self._used(texts, counted if self._provider == LOCAL else self._metered(), self._seconds.of(batch))

    def rest(self) -> Use | None:
        """Return what a service counted beyond the batches that were stored; None where that is nothing."""
        tokens = 0 if self._provider == LOCAL or self._meter is None else self._metered()
        return None if tokens == 0 else self._used(0, tokens, 0.0)

    def cost(self, connection: Connection) -> float | None:
        """Return what all batches cost in US dollars; None where that is unknown."""
        row = connection.execute(queries["usage_prices"], {"collection": self._generation.collection}).fetchone()
        total = _use(self._generation, self._provider, 0)
        return cost(self._provider, total.model, self.tokens, row[0] if row else {})

    def _metered(self) -> int | None:
        return None if self._meter is None else self._meter.take_all()

    def _used(self, texts: int, tokens: int | None, seconds: float) -> Use:
        self.tokens = None if self.tokens is None or tokens is None else self.tokens + tokens
        return replace(_use(self._generation, self._provider, texts), tokens=tokens, seconds=seconds)


def _use(generation: Generation, provider: str, texts: int, *, cached: int = 0) -> Use:
    model = metered_model(provider, generation.model, generation.embedding_settings)
    return Use(generation.collection, provider, model, EMBED_PASSAGES, texts, cached)
