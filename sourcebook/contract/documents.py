"""Documents of a knowledge base, and files and pages that are no documents."""

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sourcebook.model.left_out import left_out_words
from sourcebook.model.plain_values import PlainValues


@dataclass(frozen=True, slots=True)
class Item(PlainValues):
    """A document, or a file or page that is no document."""

    document_id: int | None
    collection: str
    uri: str
    title: str | None
    kind: str
    """`file`, `page` or `recording`; `source` for a source that cannot be listed."""
    media_type: str | None
    language: str | None
    version: int
    chunks: int
    state: str
    """`ready`, `pending`, `failed`, `skipped` or `removed`; `processing` while a process works on it."""
    error: str | None
    failure_class: str | None = None
    """Class of the failure, one of `FailureClass`; None where nothing failed."""
    attempts: int = 0
    """Failed attempts in a row."""
    next_retry_at: datetime | None = None
    parked: bool = False
    """Whether a failed item waits for a change of its content or the settings, or for somebody to ask."""
    removed_at: datetime | None = None
    """Time of the removal; None for a live item."""
    processing_since: datetime | None = None
    processing_by: str | None = None
    """Host and process id of the process that works on it, with Dagster's run where there is one."""
    taken_from: str | None = None
    """Collection whose document it is, which a membership rule takes; None for a collection's own item."""
    link: str | None = None
    """Address of its file in the web view of a Git repository; None elsewhere, and in lists."""
    bytes: int | None = None
    """Size of the file or page; None where it is not known."""
    tokens: int = 0
    """Tokens of its searchable passages, whose number is `chunks`."""
    tags: tuple[str, ...] = ()
    """Tags of its source, its own, and those given by hand."""
    created_at: datetime | None = None
    """Time at which the document came; None for what is no document."""
    updated_at: datetime | None = None
    """Time of the last change of its content, its metadata or its state."""
    indexed_at: datetime | None = None
    """Time since which its present passages are found; None where none are."""
    boost: float = 1.0
    """Factor by which its passages stand nearer the first place of a search, set by hand; 0 where none finds it."""
    curated_at: datetime | None = None
    """When it was hidden or boosted by hand; None where it is not."""
    curated_by: str | None = None
    curated_because: str | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    """Counts of what the document holds and its text does not, by kind, such as `{"pictures": 3}`."""

    @property
    def left_out_words(self) -> str:
        """Counts in `left_out` in words, "" where the text leaves out nothing."""
        return left_out_words(self.left_out)


@dataclass(frozen=True, slots=True)
class Passage:
    """A searchable chunk of a document."""

    ordinal: int
    text: str
    heading_path: list[str]
    anchor: str | None
    page: int | None
    start_seconds: float | None
    """Start of the passage in its recording, in seconds; None without a recording."""
    end_seconds: float | None
    start_char: int
    end_char: int
    token_count: int
    passage_id: str = ""
    """Its lasting name, as `SearchResult.passage_id`."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document with its content and its searchable passages."""

    item: Item
    text: str
    """The document as Markdown; empty where it was never parsed."""
    metadata: dict[str, Any]
    tags: list[str]
    passages: tuple[Passage, ...]
    given_tags: list[str] = field(default_factory=list)
    """Tags among `tags` that were given by hand."""
    given_metadata: dict[str, Any] = field(default_factory=dict)
    """Metadata among `metadata` that were given by hand."""
    given_title: str | None = None
    """Title that was given by hand in place of the document's own; None where none was."""

    def as_dict(self) -> dict[str, Any]:
        """Return the plain values that `sourcebook show --json` prints."""
        content: dict[str, Any] = {"text": self.text, "metadata": self.metadata, "tags": self.tags}
        content |= {"given_tags": self.given_tags, "given_metadata": self.given_metadata}
        content |= {"given_title": self.given_title}
        return {**self.item.as_dict(), **content, "chunks": [asdict(passage) for passage in self.passages]}


@dataclass(frozen=True, slots=True)
class RemovedItem:
    """An item that was removed from a collection or restored."""

    collection: str
    uri: str
    document_id: int | None
    """Id of the document; None for a file or page that is no document."""


@dataclass(frozen=True, slots=True)
class Purged(PlainValues):
    """Numbers of rows that a purge deletes."""

    collections: int = 0
    sources: int = 0
    files: int = 0
    pages: int = 0
    documents: int = 0
    chunks: int = 0
    parsed_contents: int = 0
    transcripts: int = 0
    embeddings: int = 0
    uploads: int = 0

    @property
    def total(self) -> int:
        """Sum of all counts."""
        return sum(self.as_dict().values())


@dataclass(frozen=True, slots=True)
class DocumentHistory:
    """Times and versions of a document."""

    came_at: datetime
    changed_at: datetime
    """Time of the last change of its content, its metadata or its state."""
    searchable_version: int | None
    """Version that searches find; None where it is not searchable."""
    searchable_since: datetime | None
