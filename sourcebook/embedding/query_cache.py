"""Vectors of questions that were asked before, and of those that are being asked twice at once."""

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CAPACITY: Final = 1_024
"""Vectors kept: 1.5 MB of 384 dimensions."""


class QueryCache:
    """Keeps the vectors of the questions asked last. Threads may share it."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        """Make an empty cache of at most `capacity` vectors, at least 1."""
        self._capacity = max(capacity, 1)
        self._lock = Lock()
        self._vectors: OrderedDict[tuple[str, str], Future[NDArray[np.float32]]] = OrderedDict()
        self._hits = 0
        self._misses = 0

    @property
    def hits(self) -> int:
        """How many questions were answered without computing, those included that waited for another's vector."""
        return self._hits

    @property
    def misses(self) -> int:
        """How many vectors were computed, or could not be."""
        return self._misses

    def __len__(self) -> int:
        """How many vectors it holds."""
        return len(self._vectors)

    def embed(
        self, model: str, text: str, embed_query: "Callable[[str], NDArray[np.float32]]"
    ) -> "NDArray[np.float32]":
        """Return a question's vector, computed once however many threads ask for it at the same time.

        Args:
            model: the identity of the model, as vectors of different ones differ.
            text: the question.
            embed_query: computes the vector where it is not known; what it raises, everyone who waited gets, and
                the next one tries again.

        Returns:
            `(dimensions,)` float32, which cannot be written to.
        """
        key = (model, text)
        with self._lock:
            known = self._vectors.get(key)
            if known is not None:
                self._vectors.move_to_end(key)
                self._hits += 1
            else:
                self._misses += 1
                future: Future[NDArray[np.float32]] = Future()
                self._vectors[key] = future
                while len(self._vectors) > self._capacity:
                    self._vectors.popitem(last=False)
        return known.result() if known is not None else self._compute(key, future, embed_query)

    def _compute(
        self,
        key: tuple[str, str],
        future: "Future[NDArray[np.float32]]",
        embed_query: "Callable[[str], NDArray[np.float32]]",
    ) -> "NDArray[np.float32]":
        try:
            vector = embed_query(key[1]).copy()  # the caller's own array stays as it is
        except BaseException as error:
            with self._lock:
                if self._vectors.get(key) is future:
                    del self._vectors[key]
            future.set_exception(error)
            raise
        vector.flags.writeable = False
        future.set_result(vector)
        return vector
