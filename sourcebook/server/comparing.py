"""Comparison of two documents for a caller, the same in every face of the server."""

from dataclasses import replace

from sourcebook.contract.differences import DocumentDifferences
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.visibility import shown_items, visible_number


def differences_for(
    knowledge: KnowledgeBase,
    grant: Grant,
    first: str | int,
    second: str | int,
    collection: str | None = None,
    *,
    unredacted: bool = False,
) -> DocumentDifferences:
    """Return what changed from one document to another, which must both exist for the caller.

    Raises:
        NotFoundError: one of them does not.
        WithheldError: the caller may not lift redaction.
        QueryError: one of them has no text.
    """
    earlier, later = (
        visible_number(knowledge, grant, name, collection, unredacted=unredacted) for name in (first, second)
    )
    found = knowledge.diff(earlier, later, unredacted=unredacted)
    one, other = shown_items(grant, (found.first, found.second))
    return replace(found, first=one, second=other)
