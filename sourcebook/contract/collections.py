"""Collections: what they hold, where it comes from, and how they were declared."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from sourcebook.contract.filling import Filling
from sourcebook.contract.status import SourceStatus
from sourcebook.model.plain_values import PlainValues


@dataclass(frozen=True, slots=True)
class CollectionSummary(PlainValues):
    """Contents of one collection."""

    name: str
    documents: int
    chunks: int
    """Number of searchable passages."""
    embeddings: int
    """Number of distinct texts among the searchable passages."""
    removed: int
    """Number of removed documents."""
    generation: int | None
    """Id of the active generation; None before the first ingest."""
    embedding_model: str | None
    dimensions: int | None
    """Numbers of a vector; None before the first ingest."""
    declared_in: str = "file"
    """`file`: `sourcebook.yaml`; `api`: made over the API."""
    filling: Filling | None = None
    """Share that is searchable while documents are being taken in; None otherwise."""
    description: str | None = None
    """Sentence of its settings that says what is in it."""
    created_at: datetime | None = None
    """Time at which it was made, or declared for the first time."""

    def is_called(self, text: str) -> bool:
        """Return whether the name or the description has a text in it, in any case."""
        return text.casefold() in f"{self.name}\n{self.description or ''}".casefold()


@dataclass(frozen=True, slots=True)
class CollectionSources:
    """The sources of one collection, in the order of the configuration."""

    name: str
    sources: tuple[SourceStatus, ...]


@dataclass(frozen=True, slots=True)
class CollectionStatistics(PlainValues):
    """Counts of one collection."""

    name: str
    documents: int
    chunks: int
    """Number of searchable passages."""
    states: dict[str, int] = field(default_factory=dict)
    """Number of documents by state: `ready`, `pending`, `failed`, `skipped`, `removed`."""
    failures: dict[str, int] = field(default_factory=dict)
    """Number of failed files, pages, documents and sources by class of the failure."""
    kinds: dict[str, int] = field(default_factory=dict)
    """Number of documents by kind: `file`, `page`, `recording`."""
    media_types: dict[str, int] = field(default_factory=dict)
    languages: dict[str, int] = field(default_factory=dict)
    """Number of documents by ISO 639-1 code; documents of unknown language are left out."""
    types: dict[str, int] = field(default_factory=dict)
    """Number of documents by type, such as `adr`; documents without a type are left out."""


SourceKind = Literal["files", "site", "repository", "collection"]


@dataclass(frozen=True, slots=True)
class CollectionDeclaration(PlainValues):
    """The settings of a collection, and where it was declared."""

    name: str
    declared_in: str
    """`file`: `sourcebook.yaml`; `api`: made over the API."""
    settings: dict[str, Any]
    """As they were written over the API; those of the file as applied, without secrets."""
