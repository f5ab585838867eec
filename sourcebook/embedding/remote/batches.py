"""Batches of texts for a provider's requests, and the joint result of several of them."""

from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sourcebook.providers.failures import ProviderError

Vectors = NDArray[np.float32]
_SPECIAL_TOKENS: Final = 16
"""Tokens that a server may add to a text."""


def most_tokens(texts: Sequence[str]) -> int:
    """Return how many tokens texts can have at most: no tokenizer makes more of a text than it has bytes."""
    return sum(len(text.encode()) + _SPECIAL_TOKENS for text in texts)


def batches_of(texts: Sequence[str], size: int, tokens: int | None) -> list[list[str]]:
    """Cut texts into batches, in their order.

    Args:
        texts: any number of texts.
        size: most texts of a batch.
        tokens: most tokens of a batch, by `most_tokens`; a text with more is a batch of its own. None for no limit.
    """
    batches: list[list[str]] = []
    held = 0
    for text in texts:
        wanted = most_tokens([text])
        if not batches or len(batches[-1]) >= size or (tokens is not None and held + wanted > tokens):
            batches.append([])
            held = 0
        batches[-1].append(text)
        held += wanted
    return batches


def joined(parts: Sequence["Future[Vectors]"], dimensions: int) -> "Future[Vectors]":
    """Return the future of all rows in the order of the parts; it fails as the first of them that fails.

    Args:
        parts: futures of arrays of shape (n, dimensions).
        dimensions: length of a row.
    """
    answer: Future[Vectors] = Future()
    answer.set_running_or_notify_cancel()
    remaining, lock = len(parts), Lock()

    def finish(_: "Future[Vectors]") -> None:
        nonlocal remaining
        with lock:
            remaining -= 1
            if remaining:
                return
        try:
            answer.set_result(np.concatenate([part.result() for part in parts]))
        except CancelledError:
            answer.set_exception(ProviderError("The provider is no longer asked: its embedder has been closed."))
        except Exception as error:  # noqa: BLE001 - whoever waits for the answer gets it
            answer.set_exception(error)

    if not parts:
        answer.set_result(np.empty((0, dimensions), np.float32))
    for part in parts:
        part.add_done_callback(finish)
    return answer
