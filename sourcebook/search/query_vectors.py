"""Vectors of queries: models are opened when first needed and kept, vectors are cached."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from sourcebook.database.usage_log import UsageLog
from sourcebook.embedding.metering import meter_of, metered_model, provider_of
from sourcebook.embedding.weights import MULTILINGUAL_NAME
from sourcebook.errors import ModelError
from sourcebook.model.usage import EMBED_QUERY, Use
from sourcebook.search.recent_cache import RecentCache
from sourcebook.search.scope import ScopedGeneration
from sourcebook.telemetry.measurements import (
    CACHE_HITS,
    CACHE_MISSES,
    EMBEDDING_CALLS,
    EMBEDDING_TEXTS,
    EMBEDDING_TOKENS,
    measurements,
)
from sourcebook.telemetry.spans import span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sourcebook.embedding.embedder import QueryEmbedder
    from sourcebook.embedding.remote.access import ProviderAccess
    from sourcebook.providers.limits import Connecting

    Weighted = tuple[NDArray[np.float32], float]
    """A query's vector, and the language weight of its model."""

Computed = TypeVar("Computed")

MODEL_WEIGHTS: Final = {MULTILINGUAL_NAME: 1.5}
"""Factors on the weight of the vector leg by the name of the model, 1 for any other; measured on XQuAD in four
languages, and on parts of SciFact and Cranfield: decision 0035. The vocabulary of these models covers their languages:
they have no language weight."""
CAPACITY: Final = 1_024
"""Vectors that the cache keeps: 1.5 MB at 384 dimensions."""
_SCOPES: Final = 64
"""Sets of collections whose model is remembered."""
_NO_LETTER: Final = re.compile(r"\W+")
_RUN: Final = re.compile(r"[^\s\d!-@\[-`{-~]+")
"""Letters with their marks, which are no letters to `re`."""
_FIRST_BEYOND_LATIN: Final = "\u0250"
_SHORTEST_WORD: Final = 3
_LEAST_LETTERS: Final = 20
"""Letters of a query in Latin script by which its language can be told; of one with fewer, the leg counts whole."""
_JUDGED_CHARACTERS: Final = 200
"""Characters of a query by which its language is judged; their tokens fit every model's input."""
_UNLEARNT: Final = 2.0
"""Bytes of letters per token up to which the language weight is 0; measured on SciFact, Cranfield and XQuAD: decision
0011."""
_LEARNT: Final = 3.5
"""Bytes of letters per token from which the language weight is 1; measured like `_UNLEARNT`."""
_UNREAD: Final = 30
"""Bytes of letters per token above which the language weight is 0: a model's vocabulary has no such long tokens, so an
unknown run of letters, as in Thai, became one unknown token."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query's vector by one model."""

    vector: NDArray[np.float32]
    """Shape (dimensions,), of length 1, read-only."""
    language_weight: float
    """Factor 0..1 on the weight of the vector leg; see `language_weight`."""
    note: str | None = None
    """Sentence for the reader of the results where the query was not embedded in the usual way."""
    model_weight: float = 1.0
    """Factor on the weight of the vector leg by the model; see `MODEL_WEIGHTS`."""
    milliseconds: float = 0.0
    """Time that the embedding took, or the look into the cache."""


class QueryVectors:
    """Embeds queries. Thread-safe."""

    def __init__(
        self,
        home: Path,
        given: QueryEmbedder | None = None,
        connecting: Connecting | None = None,
        usage: UsageLog | None = None,
    ) -> None:
        """Prepare; no model is loaded.

        Args:
            home: the state folder, with exported models.
            given: embeds all queries, in place of the generations' models.
            connecting: lends a connection to the knowledge base, which providers of embeddings need.
            usage: takes down what is used of the models.
        """
        self.usage = usage or UsageLog()
        self._home = home
        self._given, self._connecting = given, connecting
        self._cache = _new_cache()
        self._lock = threading.Lock()
        self._opened: dict[tuple[str, tuple[str, ...]], tuple[QueryEmbedder, str | None]] = {}
        self._searched: RecentCache[tuple[str, ...] | None, ScopedGeneration] = RecentCache(_SCOPES)
        self._begun: tuple[str, str, Future[QueryVector]] | None = None

    def begin(self, executor: Executor, collections: tuple[str, ...] | None, text: str) -> None:
        """Begin to embed a query in another thread while the search looks up what it covers.

        The model is that of the last search of the same collections. Nothing begins where this is not known or not
        loaded, where another search's query is still embedded ahead, or with the embedder of a program, which may be
        bound to a thread.
        """
        generation = self._searched.get(collections)
        begun = self._begun
        if generation is None or self._is_remote(generation):
            return  # a provider's answer may take seconds, in which the thread serves nobody else
        if not self._is_loaded(generation) or (begun is not None and not begun[2].done()):
            return
        embedding = executor.submit(copy_context().run, self._embed, generation, text)
        self._begun = (generation.model, text, embedding)

    def remember(self, collections: tuple[str, ...] | None, generations: Sequence[ScopedGeneration]) -> None:
        """Remember a generation of a search, whose model embeds the next query of the same collections ahead."""
        if generations:
            self._searched.add(collections, generations[0])

    def embed(self, generation: ScopedGeneration, text: str) -> QueryVector:
        """Return a query's vector by the model of a generation, whose collection the use counts for.

        Raises:
            ModelError: the model cannot be loaded, or fails on the text.
        """
        begun = self._begun
        if begun is not None and begun[:2] == (generation.model, text):
            self._begun = None
            if not begun[2].cancel():  # a thread has taken it up
                return begun[2].result()
        return self._embed(generation, text)

    def _embed(self, generation: ScopedGeneration, text: str) -> QueryVector:
        import numpy as np

        from sourcebook.embedding.preparation import shortened_rows  # imports numpy

        started = time.perf_counter()
        embedder, note = self.open(generation)

        name = generation.model.partition(":")[0]
        is_computed, tokens, seconds = False, None, 0.0

        def compute() -> Weighted:
            nonlocal is_computed, tokens, seconds
            is_computed = True
            whole, tokens, seconds = metered(embedder, lambda: embedder.embed_query(text))
            computed = shortened_rows(whole[None, :], generation.embedding.dimensions)[0].copy()
            if not np.isfinite(computed).all():
                raise ModelError(
                    f"The embedding model {name} returned a vector for the question that is not finite: its weights "
                    "are damaged. Download them again; until then, mode keyword finds words."
                )
            computed.flags.writeable = False
            measurements.record(EMBEDDING_CALLS, 1, "query")
            measurements.record(EMBEDDING_TEXTS, 1, "query")
            count_tokens = getattr(embedder, "count_tokens", None)
            if count_tokens is not None:
                count_tokens = cache(count_tokens)  # most queries are judged by their whole text
                tokens = count_tokens(text) if tokens is None else tokens
            measurements.record(EMBEDDING_TOKENS, tokens or 0, "query")
            return computed, 1.0 if name in MODEL_WEIGHTS else language_weight(text, count_tokens)

        with span("search.embedding", is_confidential=True):
            vector, weight = self._cache.get_or_compute((generation.model, text), compute)
        measurements.record(CACHE_MISSES if is_computed else CACHE_HITS, 1, "query_vectors")
        milliseconds = (time.perf_counter() - started) * 1000
        tokens = tokens if is_computed else 0
        self.note_use(generation, embedder, EMBED_QUERY, 1, tokens, seconds, cached=not is_computed)
        return QueryVector(vector, weight, note, MODEL_WEIGHTS.get(name, 1.0), milliseconds)

    def note_use(
        self,
        generation: ScopedGeneration,
        embedder: object,
        operation: str,
        texts: int,
        tokens: int | None,
        seconds: float,
        *,
        cached: bool = False,
    ) -> None:
        """Take down what was used of a generation's model; see `Use`."""
        provider = provider_of(embedder)
        model = metered_model(provider, generation.model, generation.embedding)
        self.usage.add(
            Use(generation.collection, provider, model, operation, texts, texts if cached else 0, tokens, seconds)
        )

    def is_open(self, generation: ScopedGeneration) -> bool:
        """Whether the model of a generation is loaded."""
        return self._given is not None or self._is_loaded(generation)

    def _is_loaded(self, generation: ScopedGeneration) -> bool:
        return self._given is None and _key(generation) in self._opened

    def awaits_export(self, generation: ScopedGeneration) -> bool:
        """Whether the model of a generation can be loaded with torch alone until its first ingest has exported it."""
        if self._given is not None or self._is_remote(generation) or self._is_loaded(generation):
            return False
        from sourcebook.embedding.opening import awaits_export

        return awaits_export(self._home, generation.model, generation.embedding)

    def is_ready(self, generation: ScopedGeneration, text: str) -> bool:
        """Whether the model of a generation is loaded; of a provider, whether it has been asked for the text."""
        if self._given is not None or not self._is_remote(generation):
            return self.is_open(generation)
        return self._cache.get((generation.model, text)) is not None

    def prepare(self, generation: ScopedGeneration, text: str) -> None:
        """Load the model of a generation; ask a provider for the vector of a query, which is kept."""
        if self._is_remote(generation):
            self.embed(generation, text)
        else:
            self.open(generation)

    def _is_remote(self, generation: ScopedGeneration) -> bool:
        return generation.embedding.provider is not None

    def open(self, generation: ScopedGeneration) -> tuple[QueryEmbedder, str | None]:
        """Return the model of a generation, loaded where necessary, and a note where it is not opened the usual way."""
        if self._given is not None:
            return self._given, None
        with self._lock:
            key = _key(generation)
            if key not in self._opened:
                from sourcebook.embedding.opening import open_query_embedder

                self._opened[key] = open_query_embedder(
                    self._home, generation.model, generation.embedding, self._access(generation)
                )
            return self._opened[key]

    def _access(self, generation: ScopedGeneration) -> ProviderAccess | None:
        if self._connecting is None or generation.embedding.provider is None:
            return None
        from sourcebook.embedding.remote.access import ProviderAccess

        return ProviderAccess(self._connecting, generation.collection)

    def forget(self) -> None:
        """Empty the cache: every query is computed again."""
        self._cache = _new_cache()
        self._begun = None

    def close(self) -> None:
        """Release the models' memory."""
        with self._lock:
            for embedder, _ in self._opened.values():
                embedder.close()
            self._opened.clear()


def metered(embedder: object, work: Callable[[], Computed]) -> tuple[Computed, int | None, float]:
    """Return what an embedder computes, its tokens where its provider counts them, and the seconds that it takes."""
    meter = meter_of(embedder)
    if meter is not None:
        meter.take()  # what was read for something else
    started = time.perf_counter()
    computed = work()
    return computed, None if meter is None else meter.take(), time.perf_counter() - started


def language_weight(text: str, count_tokens: Callable[[str], int] | None) -> float:
    """Return how well a model's vocabulary covers the language of a query, 0..1.

    A tokenizer cuts a language that its model has not learnt into many short tokens, and the model's vectors for it are
    little better than chance (Rust et al., How Good is Your Tokenizer?, ACL 2021). The weight rises from 0 at 2 bytes
    of letters per token to 1 at 3.5, and is 0 above 30, where whole sentences are one unknown token. Words alone
    are judged, without signs, numbers and abbreviations, which are cut as small in any language; where they are too
    few, the weight is 1.

    Args:
        text: the query.
        count_tokens: returns the number of tokens of a text, special ones included; the weight is 1 where it is None.
    """
    words = [word for word in _RUN.findall(text[:_JUDGED_CHARACTERS]) if not _says_no_language(word)]
    letters = _NO_LETTER.sub("", "".join(words))
    if count_tokens is None or (max(letters, default="") < _FIRST_BEYOND_LATIN and len(letters) < _LEAST_LETTERS):
        return 1.0
    tokens = count_tokens(" ".join(words)) - count_tokens("")
    bytes_per_token = len(letters.encode("utf-8", "replace")) / max(tokens, 1)
    if bytes_per_token > _UNREAD:
        return 0.0
    return min(max((bytes_per_token - _UNLEARNT) / (_LEARNT - _UNLEARNT), 0.0), 1.0)


def _says_no_language(word: str) -> bool:
    """Return whether a word is an abbreviation, or too short to be told from one, in Latin script."""
    return word[0] < _FIRST_BEYOND_LATIN and (word.isupper() or len(word) < _SHORTEST_WORD)


def _key(generation: ScopedGeneration) -> tuple[str, tuple[str, ...]]:
    """Return what an opened model goes by: its identity, and where a provider has it the addresses."""
    embedding = generation.embedding
    return generation.model, (embedding.url,) if embedding.provider is not None else ()


def _new_cache() -> RecentCache[tuple[str, str], Weighted]:
    return RecentCache(CAPACITY)
