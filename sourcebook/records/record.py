"""Changes that sources of records yield, and a record as the ledger keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sourcebook.errors import FailureClass
from sourcebook.model.document import JsonValue

Row = Mapping[str, object]
"""The fields of a record by name."""
DELETED: Final = "deleted"
"""Version of a record that its source has marked as deleted."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """The key of a record that is gone."""

    key: object


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A point from which the next look goes on: what was yielded before it is kept together with it."""

    cursor: JsonValue = None
    """Argument of the next call of `changes`; any value that JSON can hold."""
    complete: bool = False
    """Whether every record there is was yielded since the start: the others are gone then."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that belongs to a record."""

    name: str
    content: bytes
    media_type: str | None = None
    """As its server says; None where nobody said it."""


Known = tuple[str, str | None, bool]
"""Version and mark of a known record, and whether its source has it."""


@dataclass(frozen=True, slots=True)
class RenderedRecord:
    """A record as the ledger keeps it: the bytes of its document, or why it has none."""

    uri: str
    version: str
    """SHA-256 of the content in hexadecimal, `deleted`, or another text where there is no content."""
    mark: str | None = None
    """Its `updated` in the source; None: it is read at each look."""
    content: bytes | None = None
    skip_reason: str | None = None
    failure: str | None = None
    failure_class: FailureClass | None = None
    allowed: tuple[str, ...] | None = None
    """Principals who may see it, where a field of the record says so."""

    @property
    def is_deleted(self) -> bool:
        """Whether its source says that it is deleted."""
        return self.version == DELETED
