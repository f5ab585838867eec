"""Bytes that were sent to a knowledge base."""

from dataclasses import dataclass
from datetime import datetime

from sourcebook.model.plain_values import TimedValues


@dataclass(frozen=True, slots=True)
class Upload(TimedValues):
    """One version of an upload."""

    collection: str
    name: str
    version: int
    """1, 2, … by name: other bytes under the same name are the next version."""
    sha256: str
    """Hash of the bytes, in hexadecimal digits."""
    bytes: int
    tags: tuple[str, ...]
    uri: str
    """URI of its document: `upload://`, a random name of the collection's uploads, and the name. Collections that take
    the document have it with that URI, also for keys that do not see this one."""
    uploaded_by: str
    uploaded_at: datetime
    removed_at: datetime | None = None
    """When it was removed, or the next version came; None for the present version."""
    document_id: int | None = None
    """Id of its document, which waits for the next ingest at first; None where there is none any more."""
    changed: bool = False
    """Whether the call that returned it has made it, or changed its tags."""
