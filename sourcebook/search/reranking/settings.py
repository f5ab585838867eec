"""Settings of reranking."""

from dataclasses import dataclass

from sourcebook.errors import QueryError

MOST_RERANKED = 1_000
"""Candidates that are reranked, at most."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """Reranking of the first candidates by a cross encoder.

    Raises:
        QueryError: a number is out of range, or no model is named.
    """

    model: str
    """Any CrossEncoder of sentence-transformers: the path of its folder, or its name on the Hugging Face hub, such as
    `cross-encoder/ms-marco-MiniLM-L6-v2`."""
    top: int = 50
    """Number of candidates that are reranked; the candidates behind them keep their order."""
    batch_size: int = 16
    """Pairs that the model reads at once. After a timeout, it finishes one batch in vain."""
    timeout: float | None = 2.0
    """Seconds after which the order stays as it was, waiting for other searches included, loading the model not. None
    sets no limit."""
    max_length: int | None = None
    """Tokens of query and passage together; longer pairs are cut. The model's own limit where None."""

    def __post_init__(self) -> None:
        """Check every value."""
        if not self.model.strip():
            raise QueryError("reranking needs the name or the folder of a model")
        if not 1 <= self.top <= MOST_RERANKED:
            raise QueryError(f"reranking takes the first 1 to {MOST_RERANKED:,} candidates, not {self.top:,}")
        if self.batch_size < 1:
            raise QueryError(f"reranking reads at least one pair at once, not {self.batch_size}")
        if self.timeout is not None and not self.timeout > 0:
            raise QueryError(f"the time limit of reranking is {self.timeout} seconds; it must be above 0, or None")
        if self.max_length is not None and self.max_length < 8:
            raise QueryError(f"the pairs that are reranked have at least 8 tokens, not {self.max_length}")
