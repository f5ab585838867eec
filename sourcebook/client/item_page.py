"""A page of a list of documents, as a server answers it."""

from dataclasses import dataclass

from sourcebook.contract.documents import Item


@dataclass(frozen=True, slots=True)
class ItemPage:
    """Documents, and where the next page begins."""

    documents: list[Item]
    next_cursor: str | None
