"""A cross encoder of this machine, on a GPU where there is one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sourcebook.contract.reranking import Reranking
from sourcebook.embedding.batch_sizes import free_gpu_memory, is_out_of_memory
from sourcebook.embedding.loading import first_line
from sourcebook.errors import ModelError
from sourcebook.processes.device import choose_device
from sourcebook.search.ranking.reranking.loading import load_cross_encoder

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_log = logging.getLogger("sourcebook.reranking")


class LocalCrossEncoder:
    """A loaded cross encoder. For one thread at a time.

    A batch for which the memory is too little is read in halves. Where a GPU fails, or cannot be loaded to, the
    processor goes on in its place, unless the settings name the GPU.
    """

    def __init__(self, reranking: Reranking) -> None:
        """Load the model: seconds, most of them for importing torch.

        Raises:
            ModelError: the model cannot be found or loaded, or the device of the settings is not there.
        """
        self._reranking = reranking
        device = choose_device(reranking.device, name="reranking.device")
        self._may_fall_back = device.name != "cpu" and not device.is_required
        try:
            self.encoder: CrossEncoder = load_cross_encoder(reranking.model, reranking.max_length, device.name)
        except ModelError as error:
            if not self._may_fall_back:
                raise
            self._use_processor(error)

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return the score of each passage, the higher the better.

        Raises:
            ModelError: the model failed on these texts, or gave scores that are no finite numbers.
        """
        pairs = [(query, passage) for passage in passages]
        try:
            scores = self._predict(pairs)
        except (IndexError, RuntimeError, MemoryError, TypeError, ValueError) as error:
            name = self._reranking.model
            raise ModelError(f"The reranking model {name!r} failed on {len(pairs)} passages: {error}") from error
        if not np.isfinite(scores).all():
            raise ModelError(f"The reranking model {self._reranking.model!r} gives scores that are not finite numbers.")
        return scores

    def _predict(self, pairs: list[tuple[str, str]]) -> list[float]:
        """Score pairs: in halves after a lack of memory, on the processor where a GPU fails."""
        try:
            found = self.encoder.predict(pairs, batch_size=len(pairs), show_progress_bar=False)
        except (RuntimeError, MemoryError) as error:
            failure = error.with_traceback(None)  # whose frames hold the memory of the batch
        else:
            return [float(score) for score in found]
        if is_out_of_memory(failure) and len(pairs) > 1:
            free_gpu_memory()
            half = len(pairs) // 2
            _log.warning("%s: too little memory for %d pairs at once: halved", self._reranking.model, len(pairs))
            return self._predict(pairs[:half]) + self._predict(pairs[half:])
        if not self._may_fall_back:
            raise failure
        self._use_processor(failure)
        return self._predict(pairs)

    def _use_processor(self, error: Exception) -> None:
        """Load the model to the processor, in place of a GPU that fails."""
        self._may_fall_back = False
        _log.warning("%s: the GPU failed (%s); the processor goes on", self._reranking.model, first_line(error))
        self.encoder = load_cross_encoder(self._reranking.model, self._reranking.max_length)
