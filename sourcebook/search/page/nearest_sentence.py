"""The sentence of a passage that is nearest in meaning to the query, for passages without a word of it."""

from collections.abc import Mapping
from typing import Final

from sourcebook.contract.search_results import SearchResult
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.scope import ScopedGeneration, SearchScope
from sourcebook.search.sentences import Span, joined, sentence_spans, sentence_vectors

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
        if here:
            found |= _nearest(vectors, generations[0], query, here)
    return found


def _nearest(
    vectors: QueryVectors, generation: ScopedGeneration, query: str, results: Mapping[int, SearchResult]
) -> dict[int, Span]:
    spans = {number: joined(sentence_spans(result.text)) for number, result in results.items()}
    texts = [results[number].text[start:end] for number, here in spans.items() for start, end in here]
    sentences = sentence_vectors(vectors, generation, texts)
    if sentences is None:
        return {}
    similarities = sentences @ vectors.embed(generation, query).vector
    found, place = {}, 0
    for number, here in spans.items():
        if here:
            found[number] = here[int(similarities[place : place + len(here)].argmax())]
        place += len(here)
    return found
