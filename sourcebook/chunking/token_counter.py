"""The token counter of a generation's embedding model."""

from sourcebook.chunking.tokenizer import EstimatedTokens, FolderTokenizer, TokenCounter
from sourcebook.config.collection import EmbeddingSettings
from sourcebook.embedding.model import find_model
from sourcebook.errors import ModelError


def token_counter(settings: EmbeddingSettings) -> TokenCounter:
    """Return the tokenizer of a model of this machine, or an estimate for a provider's.

    Raises:
        ModelError: the model cannot be found, or has no tokenizer that can be read.
    """
    if settings.provider is not None:
        from sourcebook.embedding.remote.access import model_tokens

        return EstimatedTokens(model_tokens(settings))
    model = find_model(settings.model)
    if model.folder is None:
        raise ModelError(f"the embedding model {model.name!r} has no folder from which its tokenizer can be read")
    return FolderTokenizer.from_folder(model.folder, model.max_tokens)
