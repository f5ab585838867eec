"""Relations of documents."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RelatedDocument:
    """A document to which another one is related, or what is written of one that is not there."""

    kind: str
    """`references`, `requires`, `implements`, `supersedes`, `creates` or `part_of`."""
    direction: str
    """`out`: the document that was asked for requires (references, …) this one; `in`: this one requires it."""
    written: str
    """The target as it is written, such as `165` or `../adr/0004.md`."""
    origin: str
    """Where it is written: `field` of the metadata, `link`, `id` in the text, or `attachment`."""
    document_id: int | None
    """None where no document of the collection is meant: the relation dangles."""
    collection: str | None
    uri: str | None
    title: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the plain values that `sourcebook related --json` prints."""
        return asdict(self)
