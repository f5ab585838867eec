"""The embedder that asks a provider: batches in parallel, split where they are too large, each answer checked."""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.config.provider import AZURE
from sourcebook.embedding.metering import TokenMeter, provider_of_settings
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.preparation import well_formed
from sourcebook.embedding.remote.access import LEAST_SIMILARITY, PROBE, ProviderAccess, described, similarity
from sourcebook.embedding.remote.vectors import most_bytes, tokens_of, vectors_of
from sourcebook.errors import ModelError
from sourcebook.providers.azure import AzureApi
from sourcebook.providers.client import FOR_INGESTS, FOR_QUERIES, Patience, ProviderClient
from sourcebook.providers.failures import ProviderError, RequestFailedError
from sourcebook.providers.limits import Limits

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


Vectors = NDArray[np.float32]
_TRUSTED_SECONDS: Final = 600.0
"""Seconds after which a server is asked for the vector of the probe again."""
_LEAST_BESIDE_OTHERS: Final = 0.95
"""Cosine similarity below which the probe beside passages is another model's. A chosen bound: servers that quantize by
the batch give a text other vectors beside others, and other models less than this."""
_AGAIN: Final = "set embedding.revision to another word, which indexes the collection again"
_SHORTEST: Final = 32
"""Characters below which a text that is refused as too long is not cut further."""
_log = logging.getLogger("sourcebook.embedding")


class RemoteEmbedder:
    """Embeds by a provider. Thread-safe; the first request opens the connection."""

    def __init__(
        self,
        settings: EmbeddingSettings,
        access: ProviderAccess | None,
        model: EmbeddingModel | None,
        limits: Limits,
        patience: Patience,
    ) -> None:
        """Prepare; nothing is sent.

        Args:
            settings: settings with a provider.
            access: to what the database keeps; None where nothing but the probe is asked for.
            model: model whose vectors are wanted; None where it is not known yet, as before the first probe.
            limits: requests and tokens a minute.
            patience: how long a request is tried.

        Raises:
            ProviderError: the key is missing.
            MissingDependencyError: the package openai is not installed.
        """
        self._settings, self._access, self._model = settings, access, model
        azure = AzureApi(settings.api_version) if settings.provider == AZURE else None
        self._client = ProviderClient(settings.url, settings.key_variable, patience, limits, azure)
        self._proved_at: float | None = None
        self._batch_size = settings.batch_size
        self._executor = ThreadPoolExecutor(settings.parallel, thread_name_prefix="sourcebook-provider")
        self._probe_text = settings.passage_prefix + PROBE
        self._proof: Vectors | None = None
        self._proving = Lock()
        self._said_cut = False
        self.provider = provider_of_settings(settings)
        self.meter = TokenMeter()

    @property
    def model(self) -> EmbeddingModel:
        """The model that the vectors come from."""
        if self._model is None:
            raise ProviderError(f"The model {self._settings.model!r} of the provider is not known yet.")
        return self._model

    def submit(self, texts: Sequence[str]) -> "Future[Vectors]":
        """Queue passages and return at once."""
        tokens = self._settings.tokens_per_minute
        size = self._batch_size
        if self._access is not None and size > 2:  # the probe goes with them
            size -= 1
            tokens = None if tokens is None else max(tokens - most_tokens([self._probe_text]), 1)
        prefix = self._settings.passage_prefix
        batches = batches_of([prefix + well_formed(text) for text in texts], size, tokens)
        try:
            parts = [self._executor.submit(self._ask, batch, self._settings.passage_input_type) for batch in batches]
        except RuntimeError as error:  # the executor is shut down
            raise ProviderError("The provider is no longer asked: its embedder has been closed.") from error
        return joined(parts, self.model.dimensions)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed passages; see `Embedder.embed`."""
        return self.submit(texts).result()

    def embed_query(self, text: str) -> Vectors:
        """Embed a question; see `Embedder.embed_query`."""
        settings = self._settings
        vector: Vectors = self._ask([settings.query_prefix + well_formed(text)], settings.query_input_type)[0]
        return vector

    def probe(self) -> Vectors:
        """Return the vector of the fixed text, of any length."""
        return self._probe(None)

    def close(self) -> None:
        """End all waiting and close the connections; may be called more than once."""
        self._client.close()
        self._executor.shutdown(cancel_futures=True)

    def _ask(self, texts: Sequence[str], input_type: str | None) -> Vectors:
        """Return the vectors of texts; a request that is refused as too large is made in halves."""
        vectors, _ = self._ask_or_split(texts, input_type)
        return vectors

    def _ask_or_split(self, texts: Sequence[str], input_type: str | None) -> tuple[Vectors, bool]:
        """Return the vectors of texts, and whether one request was enough."""
        try:
            self._prove()
            return self._request(texts, input_type, self.model.dimensions, self._proof_beside(texts)), True
        except RequestFailedError as failure:
            if len(texts) > 1:
                half = len(texts) // 2
                first, first_whole = self._ask_or_split(texts[:half], input_type)
                second, second_whole = self._ask_or_split(texts[half:], input_type)
                if first_whole and second_whole:  # it was the number of texts: one bad text would fail in its half, too
                    self._batch_size = max(min(self._batch_size, half), 1)
                return np.concatenate([first, second]), False
            shorter = self._shorter(texts[0], failure)
            if shorter is None:
                raise ProviderError(
                    f"The provider {self._settings.url} {failure}, for the text {texts[0][:60]!r}: "
                    "leave its document out, or embed it with another model."
                ) from None
            return self._ask([shorter], input_type), False

    def _shorter(self, text: str, failure: RequestFailedError) -> str | None:
        """Return the beginning of a text that is refused as too long; None where it is refused for another reason."""
        told = failure.reason.lower()
        if len(text) < _SHORTEST or not any(word in told for word in ("413", "token", "length", "long", "large")):
            return None
        if not self._said_cut:
            self._said_cut = True
            _log.warning(
                "%s reads less of a text than chunking makes: longer ones are cut; set chunking.tokens lower",
                self._settings.url,
            )
        return text[: len(text) * 3 // 4]

    def _proof_beside(self, texts: Sequence[str]) -> Vectors | None:
        """Return the vector of the probe that goes with texts; None where a request has no room for it."""
        return self._proof if 1 < len(texts) < self._batch_size else None

    def _prove(self) -> None:
        """Compare the probe's vector with the kept one, before the first request and every ten minutes."""
        with self._proving:
            if self._proved_at is not None and time.monotonic() - self._proved_at < _TRUSTED_SECONDS:
                return
            if self._access is None:
                return
            identity = self.model.identity
            kept = self._access.probe_of(identity)
            found = self._probe(self.model.dimensions if kept is None else None)
            if kept is None:
                self._access.keep(identity, self._settings, found)
            elif len(kept) != len(found):
                raise ProviderError(
                    f"The provider {self._client.url} gives vectors of {len(found)} numbers for "
                    f"{self._settings.model!r}, and the collection's have {len(kept)}: bring the former model back, or "
                    f"{_AGAIN}."
                )
            elif (near := similarity(kept, found)) < LEAST_SIMILARITY:
                raise self._changed(near)
            self._proof = found if kept is None else kept
            self._proved_at = time.monotonic()

    def _changed(self, near: float) -> ProviderError:
        return ProviderError(
            f"The provider {self._client.url} has changed its model {self._settings.model!r}: its vector of a "
            f"fixed text has a similarity of {near:.3f} with the one that the collection was indexed with. "
            f"Bring the former model back, or {_AGAIN}."
        )

    def _probe(self, dimensions: int | None) -> Vectors:
        input_type = self._settings.passage_input_type
        try:
            vector: Vectors = self._request([self._probe_text], input_type, dimensions)[0]
        except RequestFailedError as failure:
            raise ProviderError(f"The provider {self._client.url} {failure}.") from None
        return vector

    def _request(
        self,
        texts: Sequence[str],
        input_type: str | None,
        dimensions: int | None,
        proof: Vectors | None = None,
    ) -> Vectors:
        """Return the vectors of texts; with a proof, the probe is asked for beside them and compared with it."""
        asked = [*texts] if proof is None else [*texts, self._probe_text]
        body: dict[str, Any] = {"model": self._settings.model, "input": asked, "encoding_format": "float"}
        if self._settings.dimensions is not None:
            body["dimensions"] = self._settings.dimensions
        if input_type is not None:
            body["input_type"] = input_type

        def check(answer: object) -> Vectors:
            vectors = vectors_of(answer, len(asked), dimensions, self._settings.dimensions)
            self.meter.add(tokens_of(answer))
            if proof is not None and (near := similarity(proof, vectors[-1])) < _LEAST_BESIDE_OTHERS:
                raise self._changed(near)
            return vectors[: len(texts)]

        # A server that shortens no vectors sends them whole.
        most = most_bytes(len(asked), dimensions if self._settings.dimensions is None else None)
        return self._client.post("/embeddings", body, check, tokens=most_tokens(asked), counted=tokens_of, most=most)


def open_remote(
    identity: str, settings: EmbeddingSettings, access: ProviderAccess, *, for_queries: bool
) -> RemoteEmbedder:
    """Open the embedder of a provider; nothing is sent before the first text.

    Args:
        identity: identity of the model whose vectors are wanted.
        settings: settings with a provider, as the generation has them.
        access: to what the database keeps.
        for_queries: whether somebody waits for the answer.

    Raises:
        ModelError: the key is missing, or no generation has vectors of the model.
        MissingDependencyError: the package openai is not installed.
    """
    dimensions = access.dimensions_of(identity)
    if dimensions is None:
        raise ModelError(f"No generation has vectors of the provider's model {identity}: index the collection again.")
    timeout = settings.timeout.total_seconds()
    if for_queries:
        patience = replace(FOR_QUERIES, timeout=min(timeout, FOR_QUERIES.timeout))
    else:
        patience = replace(FOR_INGESTS, timeout=timeout)
    model = described(settings, identity, dimensions)
    return RemoteEmbedder(settings, access, model, access.limits(settings), patience)
