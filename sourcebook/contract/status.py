"""The state of a collection: what is pending, failed or damaged."""

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sourcebook.contract.filling import Filling
from sourcebook.contract.generations import GenerationState
from sourcebook.contract.usage import Usage


@dataclass(frozen=True, slots=True)
class Finding:
    """A damaged item with the reason."""

    uri: str | None
    """None where it is no item of a source, such as a kept number."""
    reason: str

    def __str__(self) -> str:
        return f"{self.uri}: {self.reason}" if self.uri else self.reason


@dataclass(frozen=True, slots=True)
class ProcessingItem:
    """An item that is being parsed, transcribed or fetched."""

    collection: str
    uri: str
    stage: str
    """`documents`, `transcripts` or `crawled_pages`."""
    since: datetime
    process: str
    """Host and process id."""
    run: str | None
    """Dagster's run; None outside one."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A failed or skipped item, or a source that cannot be listed."""

    uri: str
    state: str
    """`failed` or `skipped`."""
    error: str
    attempts: int
    next_retry_at: datetime | None
    failure_class: str | None
    """Class of the failure, one of `FailureClass`; None for a skipped item."""
    parked: bool
    """Whether a failed item waits for a change of its content or the settings, or for somebody to ask."""


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source after its last listing or crawl."""

    kind: str
    """`files` or `site`; `collection` for a membership rule."""
    location: str
    """URL or path; of a membership rule the collection whose documents it takes."""
    listed_at: datetime | None
    """Time of the last complete listing or crawl."""
    listing_error: str | None
    pages: int | None = None
    """Live pages of a site; None for a folder."""
    queued: int | None = None
    """URLs of a site that a crawl has still to request; None for a folder."""
    beyond: int | None = None
    """URLs of a site that `max_pages` leaves out; None for a folder."""
    next_crawl_at: datetime | None = None
    taken: int | None = None
    """Documents that a membership rule takes; None for a folder or a site."""
    left_out: list[dict[str, Any]] | None = None
    """URLs that the patterns of a site left out of its last crawl; None for a folder. See `LeftOut` for the entries."""
    commit: str | None = None
    """Commit of a Git repository that is read; None for others, and before the first fetch."""
    next_fetch_at: datetime | None = None
    """Time of the next look at a Git repository or records; None for others."""
    behind_since: datetime | None = None
    """Time since which changes of a folder, store or uploads have been waiting; None where none waits."""


@dataclass(frozen=True, slots=True)
class CollectionStatus:
    """The state of one collection."""

    name: str
    documents: int
    chunks: int
    """Number of searchable passages."""
    embeddings: int
    """Number of distinct texts among the searchable passages."""
    failed: int
    """Number of failed items and of sources that cannot be listed."""
    skipped: int
    stale: int
    """Number of items that an ingest would process."""
    damaged: int
    """Number of documents, vectors and kept numbers that are not those that were written."""
    removed: int
    generation: int | None
    """Id of the active generation; None before the first ingest."""
    embedding_model: str | None
    engine: dict[str, str] | None
    """Engine that computed the latest vectors: `name`, `precision`, `device`, `reason`; None where none is recorded."""
    generated_indexes: int
    """Number of searchable documents that are generated indexes, whose passages have no vectors."""
    passages_without_vector: int
    """Number of their passages, which the keyword leg alone finds."""
    problems: tuple[Problem, ...]
    sources: tuple[SourceStatus, ...]
    unlisted: tuple[str, ...]
    """Reasons why sources cannot be listed now."""
    building: GenerationState | None = None
    """Generation that is built beside the active one."""
    generation_error: str | None = None
    """Reason why no generation by the applied settings can be begun."""
    damage: tuple[Finding, ...] = ()
    """Damaged items with the reasons; the next ingest mends them."""
    unknown_languages: dict[str, int] = field(default_factory=dict)
    """Numbers of documents by language, for languages that the embedding model does not know."""
    lacking: dict[str, int] = field(default_factory=dict)
    """Numbers of documents by type, of those without metadata that their type promises."""
    unread_front_matter: dict[str, str] = field(default_factory=dict)
    """URIs of documents with front matter that cannot be read, with the line and the reason; at most ten."""
    processing: tuple[ProcessingItem, ...] = ()
    """Items that a process works on now."""
    usage: tuple[Usage, ...] = ()
    """Use of models in the last 30 days, by provider, model and operation."""
    declared_in: str = "file"
    """`file`: `sourcebook.yaml`; `api`: made over the API."""
    leaving_out: int = 0
    """Number of documents that hold something that their text leaves out."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Sums of what they leave out, by kind, such as `{"pictures": 12}`."""
    filling: Filling | None = None
    """Share that is searchable while documents are being taken in; None otherwise."""

    def as_dict(self) -> dict[str, Any]:
        """Return the plain values that `sourcebook status --json` prints."""
        return {**asdict(self), "usage": [each.as_dict() for each in self.usage]}
