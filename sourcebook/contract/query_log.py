"""Queries of the query log."""

from dataclasses import dataclass
from datetime import datetime

from sourcebook.model.plain_values import TimedValues


@dataclass(frozen=True, slots=True)
class LoggedQuery(TimedValues):
    """A query that was asked of a collection, with its numbers; queries that differ in case are one."""

    collection: str
    query: str
    """As it was last written, redacted."""
    searches: int
    without_results: int
    """Number of the searches that found nothing relevant in any collection."""
    last_results: int
    """Number of passages on the first page of the last search."""
    last_asked_at: datetime
    last_relevance: float | None = None
    """Relevance of its most relevant passage, 0 to 1; None where there was none, or an earlier version logged it."""
