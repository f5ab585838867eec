"""Open the embedder of a provider for the vectors of one generation."""

from dataclasses import replace

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.embedding.remote.access import ProviderAccess, described
from sourcebook.embedding.remote.embedder import RemoteEmbedder
from sourcebook.errors import ModelError
from sourcebook.providers.client import FOR_INGESTS, FOR_QUERIES


def open_remote(
    identity: str, settings: EmbeddingSettings, access: ProviderAccess, *, for_queries: bool
) -> RemoteEmbedder:
    """Open the embedder of a provider; nothing is sent before the first text.

    Args:
        identity: identity of the model whose vectors are wanted.
        settings: settings with a provider, as the generation has them.
        access: to what the database keeps.
        for_queries: whether somebody waits for the answer.

    Raises:
        ModelError: the key is missing, or no generation has vectors of the model.
        MissingDependencyError: the package openai is not installed.
    """
    dimensions = access.dimensions_of(identity)
    if dimensions is None:
        raise ModelError(f"No generation has vectors of the provider's model {identity}: index the collection again.")
    timeout = settings.timeout.total_seconds()
    if for_queries:
        patience = replace(FOR_QUERIES, timeout=min(timeout, FOR_QUERIES.timeout))
    else:
        patience = replace(FOR_INGESTS, timeout=timeout)
    model = described(settings, identity, dimensions)
    return RemoteEmbedder(settings, access, model, access.limits(settings), patience)
