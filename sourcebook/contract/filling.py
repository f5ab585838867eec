"""The share of a collection that is searchable while documents are being taken into it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Filling:
    """How far a collection is that is being filled."""

    collection: str
    documents: int
    """Number of files, pages and recordings that were found for it so far; some may turn out to hold no text."""
    searchable: int
    """Number of documents that searches find, by their words at least."""
    with_vectors: int
    """Number of those whose passages have vectors, so that searches find them by meaning, too."""

    def __str__(self) -> str:
        """Return the share as a sentence without its end."""
        documents = f"{self.searchable:,} of {self.documents:,} documents are searchable"
        return f"{self.collection} is being filled: {documents}, {self.with_vectors:,} of them by meaning too"
