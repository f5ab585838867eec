"""Plans: the work of the next ingest of a collection, with reasons."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from sourcebook.model.counted import counted


class Reason(StrEnum):
    """The reason why an ingest would work on an item."""

    NEW = "new"
    CHANGED = "content changed"
    SETTINGS = "settings changed"
    REVISED = "parser or engine revised"
    RETRY = "retry due"
    RETURNED = "returned"
    GONE = "gone"
    CRAWL = "crawl due"
    UNFINISHED = "unfinished"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """One item that an ingest would work on."""

    uri: str
    """URI of a file, page or document; of a due site its location."""
    reason: Reason
    detail: str = ""
    """Setting, parser, engine or number that the reason is about."""
    media_type: str | None = None
    size: int = 0
    """Bytes; 0 where unknown."""
    known_size: int | None = None
    """Bytes of the version that the ledger knows; None for a new item."""
    passages: int = 0
    """Passages of the version that the ledger knows."""
    is_parsed: bool = False
    """Whether the result of parsing is in the ledger already."""
    is_published: bool = False
    """Whether a published document, of any collection, has the same passages."""
    is_generated_index: bool = False
    """Whether the version that the ledger knows has passages without vectors."""
    is_unread: bool = False
    """Whether the ledger holds no text of the item, because it was skipped."""


@dataclass(frozen=True, slots=True)
class CollectionPlan:
    """The work of the next ingest of a collection."""

    name: str
    items: tuple[PlannedItem, ...]
    counts: dict[str, int]
    """Numbers of items by reason."""
    changed_settings: tuple[str, ...]
    """Names of settings in the configuration file that the ingest would apply."""
    texts_to_embed: int
    """Estimated number of texts that the model would embed; exact where the passages are known."""
    texts_cached: int
    """Estimated number of texts whose vectors are there already."""
    seconds: float
    """Forecast of the whole run, from the past runs of this machine."""
    has_past_runs: bool
    """Whether this machine has past runs; else the forecast is that of two cores of 2024."""
    unlisted: tuple[str, ...]
    """Reasons why sources cannot be listed; their items are not in the plan."""
    givers: tuple[str, ...] = ()
    """Collections with pending work whose documents this one takes: what they change is taken after their ingest."""

    @property
    def summary(self) -> str:
        """Reasons with their numbers, texts and seconds in one line."""
        return f"{count_reasons(self.counts)}; {self.texts}; about {self.seconds:,.0f} s"

    @property
    def texts(self) -> str:
        """The texts in words: `2,576 texts (1,296 to embed, 1,280 from the cache)`."""
        all_texts = counted(self.texts_to_embed + self.texts_cached, "text")
        return f"{all_texts} ({self.texts_to_embed:,} to embed, {self.texts_cached:,} from the cache)"

    def as_dict(self) -> dict[str, Any]:
        """Return the plain values that `sourcebook plan --json` prints."""
        return {**asdict(self), "items": [_plain(item) for item in self.items]}


def _plain(item: PlannedItem) -> dict[str, Any]:
    return {"uri": item.uri, "reason": item.reason.value, "detail": item.detail}


def count_reasons(counts: Mapping[str, int]) -> str:
    """Return numbers of items by reason in one line, such as `3 new, 1 gone`."""
    return ", ".join(f"{number:,} {reason}" for reason, number in counts.items()) or "nothing to do"
