"""Permissions: who may see which documents, and why."""

from dataclasses import dataclass
from typing import Literal

from sourcebook.model.plain_values import PlainValues

ReasonKind = Literal[
    "unset", "rule", "unmatched", "document", "invalid", "record", "upload", "file", "acl", "unread", "original"
]


@dataclass(frozen=True, slots=True)
class PermissionReason(PlainValues):
    """Reason why a document is seen by those who see it."""

    kind: ReasonKind
    """`unset`: the source says nothing, so that everyone sees it; `rule`: the source's `allowed`; `unmatched`: none of
    its patterns fits, so that nobody sees it; `document`: front matter or metadata of the document; `invalid`: these
    are no list of principals, so that nobody sees it; `record`: the field of the record; `upload`: who uploaded it has
    named them; `file`: owner, group, mode and ACL of the file and of the folders above it; `acl`: the ACL of the
    object; `unread`: these have not been read yet, or cannot be, so that nobody sees it; `original`: it is a copy,
    and seen as its original, which the next reason is of."""
    collection: str
    uri: str
    """URI of the document."""
    source: str
    """Location of its source; of a copy, the collection that it is taken from."""
    pattern: str | None
    """Pattern of the rule; None where the rule is for the whole source."""
    container: str | None
    """URI of the message, archive or record that decides for an attachment; None for others."""


@dataclass(frozen=True, slots=True)
class PermissionAnswer(PlainValues):
    """Whether a caller may see documents, and through what."""

    is_seen: bool
    path: tuple[str, ...]
    """From a principal of the caller, over groups, to the one that is allowed or denied; empty where none is."""


@dataclass(frozen=True, slots=True)
class Permission(PlainValues):
    """Principals who may see some documents, or one."""

    allowed: tuple[str, ...]
    """Principals such as `user:anna@example.org`, `group:board` or `everyone`; empty for nobody."""
    denied: tuple[str, ...]
    """Principals who do not see them, whatever else they are."""
    documents: dict[str, int]
    """Number of documents by collection."""
    document_id: int | None = None
    """The document that was asked for; None where none was."""
    reasons: tuple[PermissionReason, ...] = ()
    """Why the document is seen by these: one reason, and of a copy one more for each original."""
    answer: PermissionAnswer | None = None
    """Whether the caller that was asked for sees them; None where none was."""
