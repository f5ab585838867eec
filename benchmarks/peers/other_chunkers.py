"""Ways of others to cut documents: packed sentences, semantic breakpoints, sentence windows, children below parents.

A unit is what is embedded; its span is what a reader gets where the unit is found. Defaults are those of LlamaIndex's
SentenceSplitter, SemanticSplitterNodeParser and SentenceWindowNodeParser, and of LangChain's ParentDocumentRetriever.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sourcebook.chunking.chunker import chunk_document
from sourcebook.chunking.tokenizer import TokenCounter
from sourcebook.config.passages import ContextPart
from sourcebook.model.document import ParsedDocument

Span = tuple[int, int]
Encode = Callable[[list[str]], NDArray[np.float32]]
"""Embeds texts, shape (n, dimensions), rows of length 1."""
Cut = Callable[[Sequence[ParsedDocument]], list[list["Unit"]]]
_SENTENCE = re.compile(r"\S.*?(?:[.!?…][\"'”’)\]]*(?=\s|$)|(?=\n\s*\n)|$)", re.DOTALL)
BREAKPOINT = 95
"""Percentile of the distances between neighbouring sentences of a document from which it is cut between them."""
BUFFER = 1
"""Sentences on either side that are embedded with a sentence to find breakpoints."""
WINDOW = 3
"""Sentences on either side of a found sentence that are read with it."""


@dataclass(frozen=True)
class Unit:
    """Text that is embedded, with the span that is read where it is found."""

    text: str
    read: Span


def chunkers(tokenizer: TokenCounter, encode: Encode) -> dict[str, Cut]:
    """Return every way by its name; ours at its default comes first."""
    return {
        "ours, 256 tokens": partial(_ours, tokenizer, 256, ("title", "headings")),
        "ours, 128 tokens": partial(_ours, tokenizer, 128, ("title", "headings")),
        "ours, 256 tokens, without context": partial(_ours, tokenizer, 256, ()),
        "packed sentences, 256 +32": partial(_packed, tokenizer, 256, 32),
        "semantic breakpoints": partial(_semantic, encode),
        "sentence windows": _windows,
        "children of 128 below parents of 512": partial(_children, tokenizer, 128, 512),
    }


def _ours(
    tokenizer: TokenCounter, tokens: int, context: Sequence[ContextPart], documents: Sequence[ParsedDocument]
) -> list[list[Unit]]:
    return [
        [
            Unit(chunk.embedding_text, (chunk.start_char, chunk.end_char))
            for chunk in chunk_document(
                each, title=each.title, tokens=tokens, overlap=0, tokenizer=tokenizer, context=context
            )
        ]
        for each in documents
    ]


def _packed(
    tokenizer: TokenCounter, tokens: int, overlap: int, documents: Sequence[ParsedDocument]
) -> list[list[Unit]]:
    return [_units(each.markdown, _pack(tokenizer, each.markdown, tokens, overlap)) for each in documents]


def _semantic(encode: Encode, documents: Sequence[ParsedDocument]) -> list[list[Unit]]:
    cut = [sentences(each.markdown) for each in documents]
    grouped = [
        each.markdown[spans[max(place - BUFFER, 0)][0] : spans[min(place + BUFFER, len(spans) - 1)][1]]
        for each, spans in zip(documents, cut, strict=True)
        for place in range(len(spans))
    ]
    vectors = iter(np.split(encode(grouped), np.cumsum([len(spans) for spans in cut])[:-1]))
    return [_units(each.markdown, _runs(spans, next(vectors))) for each, spans in zip(documents, cut, strict=True)]


def _runs(spans: Sequence[Span], vectors: NDArray[np.float32]) -> Iterator[Span]:
    """Yield runs of sentences up to each breakpoint."""
    distances = 1 - np.einsum("ij,ij->i", vectors[:-1], vectors[1:])
    bound = np.percentile(distances, BREAKPOINT) if len(distances) else 0.0
    starts = [0, *(place + 1 for place, distance in enumerate(distances) if distance > bound), len(spans)]
    for start, end in pairwise(starts):
        yield spans[start][0], spans[end - 1][1]


def _windows(documents: Sequence[ParsedDocument]) -> list[list[Unit]]:
    found = []
    for each in documents:
        spans = sentences(each.markdown)
        last = len(spans) - 1
        found.append(
            [
                Unit(each.markdown[start:end], (spans[max(place - WINDOW, 0)][0], spans[min(place + WINDOW, last)][1]))
                for place, (start, end) in enumerate(spans)
            ]
        )
    return found


def _children(
    tokenizer: TokenCounter, tokens: int, parent: int, documents: Sequence[ParsedDocument]
) -> list[list[Unit]]:
    return [
        [
            Unit(each.markdown[start:end], outer)
            for outer in _pack(tokenizer, each.markdown, parent, 0)
            for start, end in _pack(tokenizer, each.markdown, tokens, 0, outer)
        ]
        for each in documents
    ]


def sentences(text: str, within: Span | None = None) -> list[Span]:
    """Return the spans of sentences, which end at blank lines, too."""
    start, end = within or (0, len(text))
    return [found.span() for found in _SENTENCE.finditer(text, start, end)] or [(start, end)]


def _pack(tokenizer: TokenCounter, text: str, tokens: int, overlap: int, within: Span | None = None) -> Iterator[Span]:
    """Yield spans of whole sentences of at most so many tokens; a longer sentence is a span alone."""
    spans = sentences(text, within)
    counts = [len(offsets) for offsets in tokenizer.offsets([text[start:end] for start, end in spans])]
    first = total = 0
    for place, count in enumerate(counts):
        if total + count > tokens and place > first:
            yield spans[first][0], spans[place - 1][1]
            kept = 0
            first = place
            while first > 0 and kept + counts[first - 1] <= overlap:
                first -= 1
                kept += counts[first]
            total = kept
        total += count
    yield spans[first][0], spans[-1][1]


def _units(text: str, spans: Iterator[Span]) -> list[Unit]:
    return [Unit(text[start:end], (start, end)) for start, end in spans]
