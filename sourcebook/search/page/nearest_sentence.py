"""The sentence of a passage that is nearest in meaning to the query, for passages without a word of it."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

from sourcebook.contract.search_results import SearchResult
from sourcebook.model.usage import EMBED_SENTENCES
from sourcebook.search.page.snippets import Span, sentence_spans
from sourcebook.search.query_vectors import QueryVectors, metered
from sourcebook.search.scope import ScopedGeneration, SearchScope

MOST_TEXTS: Final = 16
"""Sentences of a passage that are embedded, at most; of more, consecutive ones are embedded together."""
MOST_PASSAGES: Final = 20
"""Passages of a page whose sentences are embedded, at most: the first ones."""


def nearest_sentences(
    vectors: QueryVectors, scope: SearchScope, query: str, results: Mapping[int, SearchResult]
) -> dict[int, Span]:
    """Return (start, end) of the sentence nearest to the query by the number of the result, in characters.

    Each embedding model is called once, for the sentences of all its passages. Results of a model that is not loaded,
    of a provider's, or of one that embeds queries alone, have none.

    Args:
        vectors: models and vectors of queries.
        scope: the generations that were searched.
        query: the text of the query.
        results: results by number, best first.
    """
    found: dict[int, Span] = {}
    first = dict(list(results.items())[:MOST_PASSAGES])
    for generations in scope.by_model().values():
        ids = {generation.id for generation in generations}
        here = {number: result for number, result in first.items() if result.generation in ids}
        if here and vectors.is_open(generations[0]):
            found |= _nearest(vectors, generations[0], query, here)
    return found


def _nearest(
    vectors: QueryVectors, generation: ScopedGeneration, query: str, results: Mapping[int, SearchResult]
) -> dict[int, Span]:
    import numpy as np  # a search by words needs none

    from sourcebook.embedding.preparation import shortened_rows

    embedder, _ = vectors.open(generation)
    embed = getattr(embedder, "embed", None)
    if embed is None or generation.embedding.provider is not None:
        return {}  # an embedder of the program's own may know queries alone; a provider takes money for each sentence
    spans = {number: joined(sentence_spans(result.text)) for number, result in results.items()}
    texts = [results[number].text[start:end] for number, here in spans.items() for start, end in here]
    if not texts:
        return {}
    whole, tokens, seconds = metered(embedder, lambda: embed(texts))
    sentences = shortened_rows(whole, generation.embedding.dimensions)
    vectors.note_use(generation, embedder, EMBED_SENTENCES, len(texts), tokens, seconds)
    similarities = sentences @ vectors.embed(generation, query).vector
    found, place = {}, 0
    for number, here in spans.items():
        if here:
            found[number] = here[int(np.argmax(similarities[place : place + len(here)]))]
        place += len(here)
    return found


def joined(sentences: Sequence[Span]) -> list[Span]:
    """Return at most `MOST_TEXTS` spans that cover the sentences: neighbours are joined where there are more."""
    if len(sentences) <= MOST_TEXTS:
        return list(sentences)
    begin, end = sentences[0][0], sentences[-1][1]
    groups = [
        list(group) for _, group in groupby(sentences, lambda span: (span[0] - begin) * MOST_TEXTS // (end - begin))
    ]
    return [(group[0][0], group[-1][1]) for group in groups]
