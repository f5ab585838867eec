"""Open the embedder of a generation's questions: a provider's, or a local one, without torch if it was exported."""

from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.errors import ModelError
from sourcebook.providers.client import provider_key

if TYPE_CHECKING:
    from sourcebook.embedding.embedder import QueryEmbedder
    from sourcebook.embedding.model import EmbeddingModel
    from sourcebook.embedding.remote.access import ProviderAccess


def open_query_embedder(
    home: Path, model: str, settings: EmbeddingSettings, access: "ProviderAccess | None" = None
) -> "tuple[QueryEmbedder, str | None]":
    """Open the provider or the exported model of a generation, else sentence-transformers, which imports torch.

    An export goes by the digest of the weights that the generation's vectors come from: the model's own folder is not
    looked at, and may have changed or gone since.

    Args:
        home: State folder, with the exports in `models/`.
        model: The generation's `model`: the identity of the weights, `/` and a precision.
        settings: The generation's embedding settings, which name the model.
        access: To what the database keeps of providers; without it no provider is asked.

    Returns:
        The exported model and None; or sentence-transformers and a sentence with the reason.

    Raises:
        ModelError: There is neither an export nor the model itself, or the model's weights are not the generation's.
    """
    from sourcebook.embedding.onnx.open import find_export, open_exported
    from sourcebook.embedding.onnx.record import Export

    identity = model.partition("/")[0]
    if settings.provider is not None:
        return _open_remote(identity, settings, access), None
    found = find_export(home, identity)
    if isinstance(found, Export):
        try:
            return open_exported(found), None
        except ModelError as error:
            found = str(error)
    return _open_sentence_transformer(identity, settings), f"Queries are embedded with sentence-transformers: {found}."


def check_openable(home: Path, model: str, settings: EmbeddingSettings) -> None:
    """Check that the embedder of a generation's questions can be opened on this machine, without loading it.

    Args:
        home: State folder, with the exports in `models/`.
        model: The generation's `model`: the identity of the weights, `/` and a precision.
        settings: The generation's embedding settings, which name the model.

    Raises:
        ModelError: There is neither an export nor the model itself, or the model's weights are not the generation's.
    """
    from sourcebook.embedding.onnx.open import find_export

    identity = model.partition("/")[0]
    if settings.provider is not None:
        provider_key(settings.key_variable, settings.urls[0])
    elif isinstance(find_export(home, identity), str):
        _find_same_weights(identity, settings)


def _open_remote(identity: str, settings: EmbeddingSettings, access: "ProviderAccess | None") -> "QueryEmbedder":
    from sourcebook.embedding.remote.opening import open_remote

    if access is None:
        raise ModelError(f"The provider of {settings.model!r} can be asked only with the database of its collection.")
    return open_remote(identity, settings, access, for_queries=True)


def _open_sentence_transformer(identity: str, settings: EmbeddingSettings) -> "QueryEmbedder":
    from sourcebook.embedding.embedder import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(_find_same_weights(identity, settings), settings.precision)


def _find_same_weights(identity: str, settings: EmbeddingSettings) -> "EmbeddingModel":
    from sourcebook.embedding.model import find_model

    model = find_model(settings.model)
    if model.identity.rpartition(":")[2] != identity.rpartition(":")[2]:
        raise ModelError(
            f"The embedding model {settings.model!r} has other weights ({model.identity}) than the collection was "
            f"indexed with ({identity}): restore them, or index the collection again."
        )
    return model
