"""Generations of a collection."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

State = Literal["active", "building", "waiting", "blocked", "kept", "surplus"]


@dataclass(frozen=True, slots=True)
class GenerationState:
    """One generation of a collection, as `sourcebook generations` shows it."""

    id: int
    collection: str
    state: State
    """`active`: searched. `building`: not every document is in it. `waiting`: every document is in it, and it is not
    active yet. `blocked`: it answers judged questions worse than the active one. `kept`: an earlier one, for a way
    back. `surplus`: deleted by an ingest."""
    chunking: Mapping[str, Any]
    """Chunking settings."""
    embedding: Mapping[str, Any]
    """Embedding settings."""
    model: str
    """Identity of the model: name, digest of its weights, precision."""
    documents: int
    """Live documents that are in it in their newest version."""
    live_documents: int
    """Live documents that have content."""
    passages: int
    bytes: int
    """Size of its entries with their indexes on disk."""
    created_at: datetime
    activated_at: datetime | None
    """Time of its last activation."""
    failure: str | None
    """Reason why its passages cannot be cut or embedded now."""
    blocked_by: str | None = None
    """Measures and questions by which the gate refused it."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Means of its measures on the judged questions of the collection."""

    @property
    def progress(self) -> float:
        """Share of the live documents that are in it, 0..1."""
        return self.documents / self.live_documents if self.live_documents else 1.0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `sourcebook generations --json` prints them."""
        return {**asdict(self), "progress": round(self.progress, 4)}
