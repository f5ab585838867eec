"""Streams: threads that compute batches of passages side by side on the processor, each with its share of the cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import wraps
from threading import Event, Lock, RLock
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from sourcebook.processes.cores import usable_threads

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from sourcebook.model.device import DeviceName

STREAM_TOKENS: Final = 1_024
"""Tokens of a stream's batch, padding included: two streams have as many in memory as one stream of 2,048."""
_FEWEST_TOKENS: Final = 256
_MOST_STREAMS: Final = 8
"""Streams of a process: all of them take turns with Python's lock between two layers, and each takes memory."""
_LONG: Final = 2_048
"""Tokens of a passage above which one is computed at a time, by all cores: its memory grows with their square."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def stream_counts(threads: int) -> tuple[int, int]:
    """Divide the threads that may compute: return the number of streams, and of threads in each.

    Args:
        threads: at least 1; see `usable_threads`.
    """
    in_each = -(-threads // _MOST_STREAMS)
    return threads // in_each, in_each


class Streams:
    """Threads that take batches in turn. A batch waits for no other thread, as the halves of a layer's work would.

    Args:
        threads: threads that may compute, at least 1.
        may_share: whether batches of this model may be computed side by side.
        may_cut: whether the size of a batch leaves the vectors as they are.
    """

    def __init__(self, threads: int, *, may_share: bool = True, may_cut: bool = True) -> None:
        self._threads, self._may_cut = threads, may_cut
        self.count, self._in_each = stream_counts(threads) if may_share else (1, threads)
        self._executor = ThreadPoolExecutor(self.count, thread_name_prefix="embed") if self.count > 1 else None

    def batch_tokens(self, token_counts: Sequence[int], most: int) -> int:
        """Return the tokens of a batch with which each stream gets at least two.

        Args:
            token_counts: tokens of each text.
            most: tokens of a batch that the memory allows.
        """
        if self.count == 1 or not self._may_cut:
            return most
        even = sum(token_counts) // (2 * self.count)
        return min(most, max(min(STREAM_TOKENS, even), _FEWEST_TOKENS))

    def compute(self, work: Callable[[list[int]], None], batches: Sequence[list[int]], longest: int) -> None:
        """Compute batches, the first ones first. After an error, and after an interrupt, no further batch begins.

        Args:
            work: called with each batch once, in any of the threads.
            batches: positions of texts.
            longest: tokens of the longest text.
        """
        if self._executor is None or len(batches) < 2 or longest > _LONG:
            compute_with(self._threads)
            for batch in batches:
                work(batch)
            return
        waiting, turn, is_over = iter(_smaller_at_the_end(batches, self.count)), Lock(), Event()

        def stream() -> None:
            compute_with(self._in_each)
            while not is_over.is_set():
                with turn:
                    batch = next(waiting, None)
                if batch is None:
                    return
                try:
                    work(batch)
                except BaseException:
                    is_over.set()
                    raise

        running: list[Future[None]] = []
        try:
            running += [self._executor.submit(stream) for _ in range(self.count)]
            for each in running:
                each.result()
        finally:
            is_over.set()
            wait(running)

    def close(self) -> None:
        """End the threads; may be called more than once."""
        if self._executor is not None:
            self._executor.shutdown()


def _smaller_at_the_end(batches: Sequence[list[int]], streams: int) -> list[list[int]]:
    """Halve the last batches, one a stream, so that the streams end together."""
    first, last = batches[:-streams], batches[-streams:]
    return [*first, *(part for batch in last for part in (batch[: len(batch) // 2], batch[len(batch) // 2 :]) if part)]


def open_streams(transformer: SentenceTransformer, device: DeviceName) -> Streams:
    """Return the streams of a loaded model; one where it is on a GPU, or keeps something between batches."""
    may_share = device == "cpu" and not any(map(_keeps_positions, transformer.modules()))
    if may_share:
        _tokenize_in_turn(transformer)
    # Padding on the left moves the positions of a text.
    may_cut = getattr(transformer.tokenizer, "padding_side", "right") == "right"
    return Streams(usable_threads(), may_share=may_share, may_cut=may_cut)


def _keeps_positions(module: object) -> bool:
    """Return whether a module keeps rotary positions that depend on the longest text so far, as ESM's does."""
    kind = str(getattr(module, "rope_type", ""))
    return "dynamic" in kind or "longrope" in kind or hasattr(module, "_seq_len_cached")


def _tokenize_in_turn(transformer: SentenceTransformer) -> None:
    """Have threads tokenize one after the other: the tokenizer changes its padding and truncation for a call."""
    turn = RLock()
    for name in ("preprocess", "tokenize"):  # older releases have `tokenize` alone
        method = getattr(transformer, name, None)
        if method is not None:
            setattr(transformer, name, _in_turn(method, turn))


def _in_turn(method: Callable[Parameters, Result], turn: RLock) -> Callable[Parameters, Result]:
    @wraps(method)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with turn:
            return method(*args, **kwargs)

    return call


def compute_with(threads: int) -> None:
    """Set how many threads torch computes with, in the calling thread too."""
    import torch

    torch.set_num_threads(threads)
