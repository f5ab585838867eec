"""Vectors of a program's own texts by the model of a collection."""

from collections.abc import Sequence

from sourcebook.contract.text_vectors import MOST_TEXTS, TextVectors
from sourcebook.errors import QueryError
from sourcebook.model.usage import EMBED_PASSAGES, EMBED_QUERY, model_label
from sourcebook.search.query_vectors import QueryVectors, metered
from sourcebook.search.scope import ScopedGeneration, SearchScope


def embed_texts(
    vectors: QueryVectors, scope: SearchScope, texts: Sequence[str], model: str | None, *, as_queries: bool
) -> TextVectors:
    """Return the vectors of texts.

    Args:
        vectors: the models.
        scope: the generations whose models may be asked.
        texts: the texts; longer ones than the model reads are truncated.
        model: name of a model; the first one where None.
        as_queries: whether the texts are queries, which some models embed in another way than passages.

    Raises:
        QueryError: there are too many texts, or no generation has the model.
        ModelError: the model cannot be loaded, or fails on the texts.
    """
    import numpy as np

    from sourcebook.embedding.preparation import shortened_rows

    if not 1 <= len(texts) <= MOST_TEXTS:
        raise QueryError(f"there are {len(texts):,} texts; there must be 1 to {MOST_TEXTS:,}")
    generation = next((each for each in scope.generations if model is None or model in _names(each)), None)
    if generation is None:
        raise QueryError("no collection has this embedding model" if model else "nothing is searchable yet")
    embedder, _ = vectors.open(generation)
    embed = None if as_queries else getattr(embedder, "embed", None)
    if embed is None and not as_queries:
        raise QueryError("the embedder of this knowledge base embeds queries alone")
    compute = embed or (lambda queries: np.stack([embedder.embed_query(query) for query in queries]))
    found, read, seconds = metered(embedder, lambda: compute(texts))
    count = getattr(embedder, "count_tokens", None)
    tokens = read if count is None else sum(count(text) for text in texts)  # a meter sees no text that a cache has
    vectors.note_use(generation, embedder, EMBED_QUERY if as_queries else EMBED_PASSAGES, len(texts), tokens, seconds)
    return TextVectors(_names(generation)[0], shortened_rows(found, generation.embedding.dimensions), tokens)


def _names(generation: ScopedGeneration) -> tuple[str, ...]:
    """Return the names of a generation's model: as usage shows it, and as collections name it."""
    return model_label(generation.embedding.model or ""), generation.model.partition(":")[0]
