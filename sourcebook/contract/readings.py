"""Readings: what was asked by whom, and which documents the answer showed."""

from dataclasses import dataclass
from datetime import datetime

from sourcebook.model.plain_values import TimedValues


@dataclass(frozen=True, slots=True)
class Reading(TimedValues):
    """An answer that a collection with the setting `retention.audit` has recorded."""

    id: int
    happened_at: datetime
    collection: str
    """Collection of the documents; an answer from several of them has a reading in each."""
    actor: str
    """`key NAME`, `token`, or the account of the operating system."""
    principals: list[str] | None
    """For whom it asked, persons first, the first hundred; None where everything in scope was asked."""
    operation: str
    """Such as `search`, `show` or `original`."""
    question: str | None
    """As it was asked, redacted; None where there is none."""
    documents: list[int]
    """Ids of the documents that the answer showed; none where it found nothing."""
    uris: list[str]
    """Their addresses, also of documents that are gone."""
