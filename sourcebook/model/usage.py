"""Use of models: texts, tokens and seconds of one operation of one collection."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

LOCAL: Final = "local"
"""Provider of models that compute on this machine: nobody bills them."""
UNKNOWN_PROVIDER: Final = "unknown"
"""Provider of an embedder that does not say whose it is, such as one that a program gave."""
EMBED_PASSAGES: Final = "embed_passages"
EMBED_QUERY: Final = "embed_query"
EMBED_SENTENCES: Final = "embed_sentences"
"""Operation that embeds the sentences of results: for `snippets="meaning"`, and before nothing is relevant."""
RERANK: Final = "rerank"
TRANSCRIBE: Final = "transcribe"
ANSWER: Final = "answer"
"""Operation of a language model that answers a question; each of its turns counts as one text."""


@dataclass(frozen=True, slots=True)
class Use:
    """Use of a model by one operation."""

    collection: str
    provider: str
    """`local`, or the name or the host of a service."""
    model: str
    operation: str
    """`embed_passages`, `embed_query`, `embed_sentences`, `rerank`, `transcribe` or `answer`."""
    texts: int
    """Texts that were asked for; for `rerank` pairs of a query and a passage, for `transcribe` recordings, for `answer`
    requests."""
    cached: int = 0
    """Texts among them whose result a cache had: the model did not see them."""
    tokens: int | None = 0
    """Tokens that the model read; None where nobody counted them."""
    seconds: float = 0.0
    """Seconds that the model took, its loading included where the operation waited for it."""
    sound_seconds: float = 0.0
    """Seconds of sound that the model heard."""
    processor_seconds: float | None = None
    """Processor time that the model took, of all threads; None where nobody measured it."""
    answer_tokens: int | None = 0
    """Tokens that the model wrote; None where nobody counted them."""


def model_label(name: str) -> str:
    """Return the name of a model as usage shows it: of a folder its last part, of any other name all of it."""
    folder = Path(name).expanduser()
    return folder.resolve().name if folder.is_dir() else name
