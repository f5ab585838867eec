"""Vectors of queries, by the model of each generation: opened when first needed, kept, remembered."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sourcebook.embedding.query_cache import QueryCache
from sourcebook.search.scope import ScopedGeneration

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sourcebook.embedding.embedder import QueryEmbedder

_NO_LETTER: Final = re.compile(r"\W+")
_LOOKED_AT: Final = 200
"""Characters of a query by which its language is judged; as many tokens are not yet cut off by a model."""
_FOREIGN: Final = 2.0
_FAMILIAR: Final = 3.5
"""Bytes of letters a token; measured on the questions of SciFact, Cranfield and XQuAD: decision 0011."""
_UNREAD: Final = 30
"""The same: no vocabulary has such tokens. A run of letters that it does not know, as of Thai, became one."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query as a model sees it."""

    vector: "NDArray[np.float32]"
    """Shape (dimensions,), of length 1."""
    familiarity: float
    """0..1: how well the model's vocabulary knows the query's language. A language that a model has not learnt is
    written in many short tokens, and what it makes of them is little better than chance (Rust et al., How Good is Your
    Tokenizer?, ACL 2021). 1 from 3.5 bytes a token on, 0 up to 2, and 0 above 30, where whole sentences are one unknown
    token; 1 where the tokens cannot be counted."""
    note: str | None = None
    """Why it was embedded in another way than usual."""


class QueryVectors:
    """Embeds queries. Thread-safe."""

    def __init__(self, home: Path, given: "QueryEmbedder | None" = None) -> None:
        """Prepare; no model is loaded.

        Args:
            home: the state folder, with exported models.
            given: embeds all queries, in place of the generations' models.
        """
        self._home = home
        self._given = given
        self._cache = QueryCache()
        self._lock = threading.Lock()
        self._opened: dict[str, tuple[QueryEmbedder, str | None]] = {}

    def embed(self, generation: ScopedGeneration, text: str) -> QueryVector:
        """Return a query's vector by a generation's model.

        Raises:
            ModelError: the model cannot be loaded, or fails on the text.
        """
        embedder, note = self.open(generation)
        vector = self._cache.embed(generation.model, text, embedder.embed_query)
        return QueryVector(vector, familiarity(text, getattr(embedder, "count_tokens", None)), note)

    def open(self, generation: ScopedGeneration) -> "tuple[QueryEmbedder, str | None]":
        """Load a generation's model, unless it is loaded; return it, and a note where it is not the usual way."""
        if self._given is not None:
            return self._given, None
        with self._lock:
            if generation.model not in self._opened:
                from sourcebook.embedding.opening import open_query_embedder

                self._opened[generation.model] = open_query_embedder(self._home, generation.model, generation.embedding)
            return self._opened[generation.model]

    def forget(self) -> None:
        """Empty the cache: the next query is computed, whatever was asked before."""
        self._cache = QueryCache()

    def close(self) -> None:
        """Give the models' memory back."""
        with self._lock:
            for embedder, _ in self._opened.values():
                embedder.close()
            self._opened.clear()


def familiarity(text: str, count_tokens: Callable[[str], int] | None) -> float:
    """Return how well a model's vocabulary knows a text's language; see `QueryVector.familiarity`."""
    letters = _NO_LETTER.sub("", text[:_LOOKED_AT])
    if count_tokens is None or not letters:
        return 1.0
    tokens = count_tokens(text[:_LOOKED_AT]) - count_tokens("")
    bytes_a_token = len(letters.encode("utf-8", "replace")) / max(tokens, 1)
    if bytes_a_token > _UNREAD:
        return 0.0
    return min(max((bytes_a_token - _FOREIGN) / (_FAMILIAR - _FOREIGN), 0.0), 1.0)
