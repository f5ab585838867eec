"""Steps before and after the model that both embedders share: texts, prompts, batches, threads, unit vectors."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sourcebook.processes.cores import usable_threads

TOKENS_PER_BATCH: Final = 2_048
"""Tokens of a batch, padding included.

Measured on two cores with all-MiniLM-L6-v2 (texts of 10 to 256 tokens): of 512 to 8,192 tokens a batch, 2,048 was the
fastest in bfloat16, and level with the smaller ones in float32.
"""
ROWS_PER_BATCH: Final = 256
"""Texts of a batch."""
_SMALL_MODEL_WEIGHTS: Final = 50_000_000
"""Weights below which a model answers a question as fast on one core as on two.

Two threads wait for each other where other programs compute too: with torch, the 95th percentile was 24 ms on one core
and 124 to 980 ms on two.
"""


def well_formed(text: str) -> str:
    """Replace lone surrogates, which are no characters, by U+FFFD, and join pairs."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def query_prompt(prompts: Mapping[str, str | None]) -> str:
    """Return the text that a model, such as E5, wants before a question; empty for most models."""
    return prompts.get("query") or ""


def passage_prompt(prompts: Mapping[str, str | None]) -> str:
    """Return the text that a model wants before a passage; empty for most models."""
    # sentence-transformers itself takes an empty "document" prompt before a "passage" that says something.
    return next((prompt for key in ("document", "passage", "corpus") if (prompt := prompts.get(key))), "")


def batches_by_length(token_counts: Sequence[int], tokens: int = TOKENS_PER_BATCH) -> list[list[int]]:
    """Group texts of similar length, the longest first, so that a batch too big for the memory fails at once.

    Args:
        token_counts: tokens of each text.
        tokens: most tokens of a batch, padding included; a longer text is a batch of its own.

    Returns:
        Positions in `token_counts`, each exactly once, in batches of 1 to `ROWS_PER_BATCH`.
    """
    batches: list[list[int]] = []
    rows = 0  # that fit in the last batch
    for position in sorted(range(len(token_counts)), key=lambda position: -token_counts[position]):
        if not batches or len(batches[-1]) >= rows:
            batches.append([])
            rows = min(max(tokens // max(token_counts[position], 1), 1), ROWS_PER_BATCH)
        batches[-1].append(position)
    return batches


def query_threads(weights: int) -> int:
    """Choose the number of threads that embed one question: one for a small model, all usable ones for any other."""
    return 1 if weights < _SMALL_MODEL_WEIGHTS else usable_threads()


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale each row to length 1, in float32 whatever the model computed in; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
    rows: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
    return rows


def shortened_rows(vectors: NDArray[np.float32], dimensions: int | None) -> NDArray[np.float32]:
    """Return the first numbers of each row, scaled to length 1 again, as Matryoshka models are trained for.

    Args:
        vectors: shape (n, at least `dimensions`).
        dimensions: length of a shortened row; None, or the present length, leaves them as they are.
    """
    if dimensions is None or vectors.shape[1] <= dimensions:
        return vectors
    return unit_rows(vectors[:, :dimensions])
