"""Curation by hand: documents that no search finds, or whose passages stand nearer the first place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.contract.documents import Document
    from sourcebook.operations.opened import Opened


def curate_document(
    knowledge: Opened,
    document: str | int | Path,
    collection: str | None = None,
    *,
    boost: float,
    reason: str | None = None,
    actor: str | None = None,
) -> Document:
    """Hide a document from search, or boost it; return it as it is then.

    A hidden document is kept and listed, and no search finds it: not over REST, for agents or on the page, nor as a
    similar document. A boosted one has its passages at their place divided by the factor, among the first hundred: 2
    takes the sixth to the third. It holds at once, also in collections that take the document.

    Args:
        document: its id, its URI, or the path of its file.
        collection: name of its collection, where several have it.
        boost: 0 hides it; a factor from 0.25 to 4 moves it, below 1 further behind; 1 takes both back.
        reason: why, a line of at most 500 characters; needed unless `boost` is 1.
        actor: who does it.

    Raises:
        UnknownDocumentError: there is no such document, or several collections have it and none is named.
        QueryError: the factor or the reason is not allowed, or the document follows that of another collection.
    """
    from sourcebook.admin.curation import curate

    name = document if isinstance(document, int) else str(document)
    with knowledge.database.connection() as connection:
        return curate(connection, name, collection, boost=boost, reason=reason, actor=actor)
