"""Reranking by a provider: the protocols of Cohere, of Jina and of text-embeddings-inference (TEI)."""

import math
import sys
from collections.abc import Sequence
from typing import Any, Final

from sourcebook.contract.reranking import Reranking
from sourcebook.providers.client import Patience, ProviderClient
from sourcebook.providers.failures import ProviderError, RequestFailedError, invalid

_LONGEST: Final = 30.0
"""Seconds for a request where reranking has no time limit."""
_MARGIN: Final = 2.0
"""Seconds for which a request goes on when the search no longer waits for it."""
_MOST: Final = {"cohere": 1_000, "jina": 1_000, "tei": 32}
"""Passages of a request."""


class RemoteCrossEncoder:
    """Scores passages by a provider's model. Thread-safe."""

    def __init__(self, reranking: Reranking) -> None:
        """Prepare; nothing is sent.

        Raises:
            ProviderError: the key is missing.
            MissingDependencyError: the package openai is not installed.
        """
        url, variable = reranking.server
        # The search itself goes on at its time limit; a request that ended just then would be an error instead.
        seconds = _LONGEST if reranking.timeout is None else reranking.timeout + _MARGIN
        self._model, self._protocol = reranking.model, reranking.provider or "cohere"
        self._size = _MOST[self._protocol]
        self._client = ProviderClient(url, variable, Patience(3, seconds, seconds, waits_for_breaker=False))

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return a score for each passage, the higher the better.

        Raises:
            ProviderError: the provider refuses, fails, or does not give each passage one finite score.
        """
        scores: list[float] = []
        for start in range(0, len(passages), self._size):
            scores += self._ask(query, passages[start : start + self._size])
        return scores

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return the scores of one request; a request that is refused as too large is made in halves."""
        try:
            return self._client.post(
                "/rerank", self._body(query, passages), lambda answer: scores_of(answer, len(passages))
            )
        except RequestFailedError as failure:
            if len(passages) == 1:
                raise ProviderError(
                    f"The provider {self._client.url} {failure}, for the passage {passages[0][:60]!r}: "
                    "search without reranking, or rerank with another model."
                ) from None
            half = len(passages) // 2
            return self._ask(query, passages[:half]) + self._ask(query, passages[half:])

    def _body(self, query: str, passages: Sequence[str]) -> dict[str, Any]:
        if self._protocol == "tei":
            return {"query": query, "texts": list(passages), "truncate": True}
        body = {"model": self._model, "query": query, "documents": list(passages), "top_n": len(passages)}
        return {**body, "return_documents": False} if self._protocol == "jina" else body


def scores_of(answer: object, passages: int) -> list[float]:
    """Return the scores of an answer in the order of the passages.

    Args:
        answer: decoded JSON: a list of `index` and `score`, or an object whose `results` have `relevance_score`.
        passages: number of passages of the request.

    Raises:
        RequestFailedError: it does not have one finite score for each passage.
    """
    results = answer.get("results") if isinstance(answer, dict) else answer
    if not isinstance(results, list):
        raise invalid("it has no list of scores")
    if len(results) != passages:
        raise invalid(f"{len(results)} scores for {passages} passages")
    scores: dict[int, float] = {}
    for item in results:
        index = item.get("index") if isinstance(item, dict) else None
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < passages or index in scores:
            raise invalid(f"the index {str(index)[:20]!r} of a score is none of the passages', or there twice")
        score = item.get("relevance_score", item.get("score"))
        if isinstance(score, bool) or not isinstance(score, int | float):
            raise invalid("a score that is no finite number")
        scores[index] = float(score) if abs(score) <= sys.float_info.max else math.nan  # JSON has whole numbers beyond
        if not math.isfinite(scores[index]):
            raise invalid("a score that is no finite number")
    return [scores[index] for index in range(passages)]
