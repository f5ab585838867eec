"""Cross encoders that score passages: loaded once, used by one search after the other, within a time limit."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sourcebook.contract.reranking import Reranking
from sourcebook.database.usage_log import UsageLog
from sourcebook.errors import ModelError
from sourcebook.model.usage import LOCAL, RERANK, UNKNOWN_PROVIDER, Use, model_label
from sourcebook.processes.cores import usable_threads
from sourcebook.search.recent_cache import RecentCache

if TYPE_CHECKING:
    from sourcebook.search.ranking.reranking.local import LocalCrossEncoder
    from sourcebook.search.ranking.reranking.remote import RemoteCrossEncoder


_ASKED_AT_ONCE: Final = 8
"""Searches that ask a provider at the same time."""
_Key = tuple[str, int | None, str, str | None, tuple[str, str | None], float | None]
"""Model, most tokens, device, and of a provider protocol, server and time limit."""
KEPT_SCORES: Final = 50_000
"""Scores that are kept per model, some 150 bytes each."""


@dataclass(frozen=True, slots=True)
class PairScores:
    """Scores of a query's passages."""

    scores: tuple[float, ...] | None
    """In the order of the passages, the higher the better; None after a timeout."""
    ms: float
    """Milliseconds, waiting for other searches included, loading the model not."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: LocalCrossEncoder | RemoteCrossEncoder
    scores: RecentCache[bytes, float] = field(default_factory=lambda: RecentCache(KEPT_SCORES))


class Reranker:
    """Scores passages for a query. Thread-safe: searches take turns, each with all cores, in the order they came.

    A model is loaded by the first search that names it, or by `prewarm`, and kept until `close`. So are its latest
    scores: the next page of a search costs no reading, and a search that timed out continues when it is repeated.
    """

    def __init__(self, usage: UsageLog | None = None) -> None:
        """Prepare; no model is loaded.

        Args:
            usage: takes down what is used of the models.
        """
        self._usage = usage or UsageLog()
        self._loaded: dict[_Key, _Loaded] = {}
        self._loading = Lock()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="sourcebook-reranking")
        self._asking = ThreadPoolExecutor(_ASKED_AT_ONCE, thread_name_prefix="sourcebook-reranking-provider")
        self._closed = Event()

    def prewarm(self, reranking: Reranking) -> None:
        """Load a model, which takes seconds, most of them for importing torch.

        Raises:
            ModelError: it cannot be found or loaded, or the reranker has been closed.
        """
        self._load(reranking)

    def score(self, reranking: Reranking, query: str, passages: Sequence[str], collection: str = "") -> PairScores:
        """Return the score of each passage, or no scores after a timeout; the use counts for a collection.

        The time limit does not include loading the model. After a timeout the caller continues at once, and the model
        finishes its batch in the background.

        Raises:
            ModelError: the model cannot be found or loaded, it failed on these texts, or the reranker has been closed.
        """
        loaded = self._load(reranking)
        started = time.perf_counter()
        time_is_up = Event()
        try:
            worker = self._worker if reranking.provider is None else self._asking
            reading = worker.submit(self._read, loaded, reranking, query, passages, time_is_up, collection)
            scores = reading.result(reranking.timeout)
        except TimeoutError:
            scores = None
        except (CancelledError, RuntimeError) as error:  # RuntimeError: the worker is shut down
            raise _closed() from error
        finally:
            time_is_up.set()
        return PairScores(scores, round((time.perf_counter() - started) * 1000, 3))

    def close(self) -> None:
        """Drop the models after the present batch; may be called more than once."""
        self._closed.set()
        with self._loading:
            models = [loaded.model for loaded in self._loaded.values()]
            self._loaded.clear()
        self._asking.shutdown(cancel_futures=True)  # requests under way end within their time limit
        if models:
            from sourcebook.search.ranking.reranking.remote import RemoteCrossEncoder  # few searches rerank

            for model in models:
                if isinstance(model, RemoteCrossEncoder):
                    model.close()
        self._worker.shutdown(cancel_futures=True)

    def _load(self, reranking: Reranking) -> _Loaded:
        model = reranking.model, reranking.max_length
        key: _Key = (*model, reranking.device, None, ("", None), None)
        if reranking.provider is not None:
            key = (*model, "", reranking.provider, reranking.server, reranking.timeout)
        loaded = self._loaded.get(key)
        if loaded is None:
            with self._loading:
                if self._closed.is_set():
                    raise _closed()
                loaded = self._loaded.get(key) or _Loaded(_open(reranking))
                self._loaded[key] = loaded
        return loaded

    def _read(
        self,
        loaded: _Loaded,
        reranking: Reranking,
        query: str,
        passages: Sequence[str],
        time_is_up: Event,
        collection: str,
    ) -> tuple[float, ...] | None:
        """Return the scores, read batch by batch in the order of length; None where the time is up."""
        if reranking.provider is None:
            import torch

            torch.set_num_threads(usable_threads())
        known = {passage: loaded.scores.get(_pair(query, passage)) for passage in passages}
        scores = {passage: score for passage, score in known.items() if score is not None}
        unread = sorted(known.keys() - scores.keys(), key=lambda passage: (-len(passage), passage))
        cached, started = len(scores), time.perf_counter()
        size = reranking.batch_size if reranking.provider is None else max(len(unread), 1)
        try:
            for start in range(0, len(unread), size):
                if time_is_up.is_set():
                    return None
                if self._closed.is_set():
                    raise _closed()
                batch = unread[start : start + size]
                for passage, score in zip(batch, loaded.model.score(query, batch), strict=True):
                    loaded.scores.add(_pair(query, passage), score)
                    scores[passage] = score
        finally:
            self._note_use(reranking, collection, len(scores), cached, time.perf_counter() - started)
        return tuple(scores[passage] for passage in passages)

    def _note_use(self, reranking: Reranking, collection: str, pairs: int, cached: int, seconds: float) -> None:
        """Take down the pairs that a search read or had, after a timeout, too; nobody counts their tokens."""
        tokens = 0 if pairs == cached else None
        model = model_label(reranking.model) if reranking.provider is None else reranking.model
        self._usage.add(Use(collection, _provider(reranking), model, RERANK, pairs, cached, tokens, seconds))


def _provider(reranking: Reranking) -> str:
    """Return who is billed for the scores: the protocol's own server by its name, another one by its host."""
    if reranking.provider is None:
        return LOCAL
    if reranking.base_url is None:
        return reranking.provider
    return urlsplit(reranking.base_url).hostname or UNKNOWN_PROVIDER


def _pair(query: str, passage: str) -> bytes:
    """Return a digest that identifies a pair."""
    return hashlib.sha256(f"{len(query)} {query} {passage}".encode()).digest()


def _open(reranking: Reranking) -> LocalCrossEncoder | RemoteCrossEncoder:
    """Return the model of this machine or of the provider."""
    if reranking.provider is not None:
        from sourcebook.search.ranking.reranking.remote import RemoteCrossEncoder

        return RemoteCrossEncoder(reranking)
    from sourcebook.search.ranking.reranking.local import LocalCrossEncoder

    return LocalCrossEncoder(reranking)


def _closed() -> ModelError:
    return ModelError("The reranker has been closed.")
