"""The model that embedding settings mean, as a generation records it: a model of this machine, or a provider's."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sourcebook.config.passages import EmbeddingSettings
from sourcebook.config.provider import MOST_DIMENSIONS
from sourcebook.embedding.engine import choose_precision
from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sourcebook.embedding.remote.access import ProviderAccess
    from sourcebook.providers.limits import Limits

_REMOTE = "remote"
"""The part of a provider's model that a precision has in a local one."""


@dataclass(frozen=True, slots=True)
class SettledModel:
    """A model with the dimensions that the settings ask for."""

    identity: str
    """`generation.model`: the identity of the model, `/`, its precision, and `/` and the dimensions where the settings
    shorten a local model's vectors."""
    dimensions: int
    """Length of a vector after shortening."""


def settle_model(settings: EmbeddingSettings, access: ProviderAccess) -> SettledModel:
    """Find the model of settings; ask a provider for the vector of a fixed text, which shows its length and the model.

    Args:
        settings: embedding settings with the name of a model.
        access: to what the database keeps of providers.

    Raises:
        ModelError: the model cannot be found or its provider refuses, or its vectors are too long or too short.
    """
    if settings.provider is None:
        return local_model(settings, find_model(settings.model))
    model = find_provider_model(settings, access)
    return SettledModel(f"{model.identity}/{_REMOTE}", model.dimensions)


def settled_before(settings: EmbeddingSettings, access: ProviderAccess) -> SettledModel | None:
    """Return the model of settings without asking a provider; None where the provider's has not been used before.

    Raises:
        ModelError: a local model cannot be found, or its vectors are too long or too short.
    """
    if settings.provider is None:
        return local_model(settings, find_model(settings.model))
    model = access.known_model(settings)
    return None if model is None else SettledModel(f"{model.identity}/{_REMOTE}", model.dimensions)


def local_model(settings: EmbeddingSettings, model: EmbeddingModel) -> SettledModel:
    """Return a local model with the dimensions of the settings.

    Raises:
        ModelError: its vectors are too long for an index, or shorter than the settings ask for.
    """
    identity = f"{model.identity}/{choose_precision(settings.precision)}"
    _check_dimensions(settings, model.dimensions)
    if settings.dimensions is None or settings.dimensions == model.dimensions:
        return SettledModel(identity, model.dimensions)
    return SettledModel(f"{identity}/{settings.dimensions}", settings.dimensions)


def find_provider_model(settings: EmbeddingSettings, access: ProviderAccess) -> EmbeddingModel:
    """Ask a provider for the vector of a fixed text, and return the model; its identity is kept in the database.

    Raises:
        ModelError: the provider refuses or does not answer, or its vectors are too long or too short.
    """
    from sourcebook.embedding.remote.access import described, new_identity

    probe = check_provider(settings, access.limits(settings))
    known = access.known_model(settings, probe)
    if known is not None:
        return known
    identity = new_identity(settings, probe)
    access.keep(identity, settings, probe)
    return described(settings, identity, len(probe))


def check_provider(settings: EmbeddingSettings, limits: Limits | None = None) -> NDArray[np.float32]:
    """Ask a provider for the vector of a fixed text.

    Args:
        settings: settings with a provider.
        limits: requests and tokens a minute; None for one request without.

    Raises:
        ModelError: the provider refuses or does not answer, or its vectors are too long or too short.
        MissingDependencyError: the package openai is not installed.
    """
    from sourcebook.embedding.remote.embedder import RemoteEmbedder
    from sourcebook.providers.client import AT_ONCE
    from sourcebook.providers.limits import NoLimits

    with closing(RemoteEmbedder(settings, None, None, limits or NoLimits(), AT_ONCE)) as embedder:
        probe = embedder.probe()
    _check_dimensions(settings, len(probe))
    return probe


def _check_dimensions(settings: EmbeddingSettings, found: int) -> None:
    if settings.dimensions is not None and settings.dimensions > found:
        raise ModelError(
            f"The vectors of the embedding model {settings.model!r} have {found} dimensions, and "
            f"embedding.dimensions asks for {settings.dimensions}: leave the setting out, or set {found} or less."
        )
    if settings.dimensions is None and found > MOST_DIMENSIONS:
        raise ModelError(
            f"The vectors of the embedding model {settings.model!r} have {found:,} dimensions, and an index takes "
            f"{MOST_DIMENSIONS:,} at most: set embedding.dimensions to 1024, for example, if it is a Matryoshka "
            "model, whose first numbers are enough, or take another model."
        )
