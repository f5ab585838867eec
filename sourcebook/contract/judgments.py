"""Recorded judgments of documents."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sourcebook.model.plain_values import TimedValues

MOST_JUDGED_CHARACTERS: Final = 10_000
"""Characters of a query that is judged, at most: it is a key of the table of judgments."""


@dataclass(frozen=True, slots=True)
class RecordedJudgment(TimedValues):
    """The grade of a document for a query."""

    collection: str
    query: str
    uri: str
    grade: int
    """Above 0: relevant, the higher the more. 0 or less: not relevant."""
    judged_at: datetime
