"""Reports of stages: counts, seconds and failures."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from sourcebook.errors import FailureClass


@dataclass(frozen=True, slots=True)
class ItemFailure:
    """An item that failed, with the reason and its class."""

    uri: str
    reason: str
    failure_class: FailureClass = FailureClass.OTHER


@dataclass(frozen=True, slots=True)
class ReportedItem:
    """An item that a stage made or changed."""

    title: str
    uri: str


MOST_NEWEST = 10
"""Items that a report lists as the newest."""


@dataclass(slots=True)
class StageReport:
    """Counts of one stage over one collection, filled while the stage runs."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: int = 0
    seconds: float = 0.0
    extra: dict[str, int] = field(default_factory=dict)
    """Counts that only some stages have: renamed, skipped, computed, reused, bytes."""
    failures: list[ItemFailure] = field(default_factory=list)
    """Failures of this run, in the order in which they happened."""
    newest: list[ReportedItem] = field(default_factory=list)
    """Items that this run made or changed last, the newest first."""
    version: str = ""
    """Digest over the sorted (key, content hash) pairs of the collection after the stage; equal for equal content."""
    work: float = 0.0
    """Work of this run in seconds at built-in rates; see `sourcebook.model.work`."""
    tokens: int | None = None
    """Tokens that models read in this run; None where nobody counted them, and in stages that use none."""
    cost: float | None = None
    """Cost of the models of this run in US dollars; None where unknown, and in stages that use none."""
    plan: str = ""
    """Reasons of the planned items with their numbers; of the stage `raw_files` alone."""
    _started: float = field(default_factory=time.perf_counter, repr=False)

    def fail(self, uri: str, reason: str, failure_class: FailureClass) -> None:
        """Count a failed item."""
        self.failed += 1
        self.failures.append(ItemFailure(uri, reason, failure_class))

    def note(self, title: str, uri: str) -> None:
        """List an item as the newest one."""
        self.newest.insert(0, ReportedItem(title, uri))
        del self.newest[MOST_NEWEST:]

    def count(self, name: str, number: int = 1) -> None:
        """Add to one of the extra counts."""
        self.extra[name] = self.extra.get(name, 0) + number

    def include(self, earlier: "StageReport") -> None:
        """Add the counts of work that was done before the stage began, in the same run."""
        self.added += earlier.added
        self.changed += earlier.changed
        self.removed += earlier.removed
        self.failed += earlier.failed
        self.failures = [*earlier.failures, *self.failures]
        self.newest = [*self.newest, *earlier.newest][:MOST_NEWEST]
        for name, number in earlier.extra.items():
            self.count(name, number)

    def finish(self, version: str) -> "StageReport":
        """Set the content version and the elapsed seconds, and return the report."""
        self.version = version
        self.seconds = round(time.perf_counter() - self._started, 3)
        return self

    @property
    def total(self) -> int:
        """Number of items after the stage, without failed ones."""
        return self.added + self.changed + self.unchanged

    @property
    def worked(self) -> bool:
        """Whether the stage changed anything."""
        return bool(self.added or self.changed or self.removed or self.failed)

    def to_json(self) -> dict[str, Any]:
        """Return the finished report as a JSON object."""
        return {name: value for name, value in asdict(self).items() if not name.startswith("_")}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the report of a JSON object from `to_json`."""
        return cls(
            **{
                **values,
                "failures": [ItemFailure(**failure) for failure in values["failures"]],
                "newest": [ReportedItem(**item) for item in values["newest"]],
            }
        )

    def use(self) -> dict[str, int | float | None]:
        """Return tokens and cost of the models by name."""
        return {"tokens": self.tokens, "cost": self.cost}

    def counts(self) -> dict[str, int | float]:
        """Return every count and the seconds by name."""
        return {
            "added": self.added,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "failed": self.failed,
            "seconds": self.seconds,
            **self.extra,
        }
