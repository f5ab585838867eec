"""Other passages, copies and versions of documents, which a result of a search names beside itself."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OtherPassage:
    """Another passage of a result's document that the search found; with grouping by document."""

    ordinal: int
    """Place within the document, counted from 0."""
    score: float
    page: int | None
    anchor: str | None
    start_seconds: float | None
    end_seconds: float | None
    rerank_score: float | None = None


@dataclass(frozen=True, slots=True)
class OtherCopy:
    """A passage of another document with the text of a result."""

    document_id: int
    collection: str
    uri: str
    title: str | None
    ordinal: int
    """Place within its document, counted from 0."""
    page: int | None = None
    anchor: str | None = None
    start_seconds: float | None = None
    end_seconds: float | None = None
    link: str | None = None
    """Address of its file in the web view of its Git repository."""

    @property
    def heading_path(self) -> tuple[str, ...]:
        """No headings: those of the result are above this one, too."""
        return ()


@dataclass(frozen=True, slots=True)
class LinkedDocument:
    """A document that a relation leads to."""

    document_id: int
    collection: str
    uri: str
    title: str | None
    kind: str
    """Kind of the relation, such as `references`."""


@dataclass(frozen=True, slots=True)
class OtherVersion:
    """Another version of a document."""

    document_id: int
    collection: str
    uri: str
    title: str | None
    label: str
    """Name of the version in its file's name or its title, such as `v2` or `2024-03`; empty where there is none."""
