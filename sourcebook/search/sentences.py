"""Sentences and lines of a text, and their vectors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

from sourcebook.model.usage import EMBED_SENTENCES
from sourcebook.search.query_vectors import QueryVectors, metered
from sourcebook.search.scope import ScopedGeneration

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_TEXTS: Final = 16
"""Sentences of a passage that are embedded, at most; of more, consecutive ones are embedded together."""
_SEGMENT: Final = re.compile(r"[\n.!?…。！？।॥؟۔։።។။](?:(?<=[\n。！？])|[\"'”’»)\]]?(?=\s))")
"""Ends of lines and sentences. The search for a sign of a small set is fast; most of these dots end nothing."""

Span = tuple[int, int]


def sentence_spans(text: str) -> list[Span]:
    """Return the spans of the sentences and lines of a text, without the white space around them."""
    bounds = [0, *(found.end() for found in _SEGMENT.finditer(text)), len(text)]
    found = []
    for start, end in pairwise(bounds):
        segment = text[start:end]
        stripped = segment.strip()
        if stripped:
            begin = start + segment.index(stripped)
            found.append((begin, begin + len(stripped)))
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


def sentence_vectors(
    vectors: QueryVectors, generation: ScopedGeneration, texts: Sequence[str]
) -> NDArray[np.float32] | None:
    """Return a vector of each text by the model of a generation, a row each; None where there is none to ask.

    A model that embeds queries alone, as the embedder of a program may, is not asked, nor is a provider, which takes
    money for each sentence.
    """
    if not texts or generation.embedding.provider is not None or not vectors.is_open(generation):
        return None
    embedder, _ = vectors.open(generation)
    embed = getattr(embedder, "embed", None)
    if embed is None:
        return None
    from sourcebook.embedding.preparation import shortened_rows  # imports numpy, which a search by words needs not

    whole, tokens, seconds = metered(embedder, lambda: embed(list(texts)))
    vectors.note_use(generation, embedder, EMBED_SENTENCES, len(texts), tokens, seconds)
    return shortened_rows(whole, generation.embedding.dimensions)
