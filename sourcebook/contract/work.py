"""Requests for work."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from sourcebook.model.plain_values import TimedValues


@dataclass(frozen=True, slots=True)
class UnreadDocument:
    """A file or page that a request was for, and that became no document."""

    uri: str
    state: str
    """`failed` or `skipped`."""
    reason: str


WorkState = Literal["waiting", "running", "succeeded", "failed", "cancelled"]
OPEN: Final[tuple[WorkState, ...]] = ("waiting", "running")
"""States of a request that has not ended."""


@dataclass(frozen=True, slots=True)
class WorkRequest(TimedValues):
    """One request, as it is now."""

    id: int
    collection: str
    kind: str
    arguments: dict[str, Any]
    """The part of the collection: `documents` (URIs), `sources` (locations), `kinds` (`files`, `site`, `uploads`),
    `only_failed`, `force`, `accept`; what is missing limits nothing."""
    state: WorkState
    stage: str | None
    """Name of the pipeline's asset that works now, or worked last."""
    done: int
    """Items of the stage that are done."""
    total: int
    """Items of the stage that are known so far."""
    failed: int
    """Failed items among those done."""
    error: str | None
    run_id: str | None
    """Id of the Dagster run that does it; None before it begins, or where nothing was to be done."""
    worker: str | None
    """Host and process that does it, such as `host:4711`."""
    asked_by: str
    cancel_asked: bool
    """Whether it is to stop; true until the worker has stopped, and after that."""
    revision: int
    """Number of the last change, from 1."""
    asked_at: datetime
    started_at: datetime | None
    changed_at: datetime
    ended_at: datetime | None
    attempts: int
    """Times that a worker has taken it; more than one where a worker was killed."""
    unread: tuple[UnreadDocument, ...] = ()
    """Those of its `documents` that failed or were skipped, once it has ended; empty in lists of requests."""

    @property
    def has_ended(self) -> bool:
        """Whether nothing will change any more."""
        return self.state not in OPEN
