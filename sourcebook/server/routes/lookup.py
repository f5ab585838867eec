"""Route for a document by the name that a person has for it: its URI, or the end of its path."""

from typing import Annotated

from fastapi import APIRouter, Query

from sourcebook.contract.documents import Document
from sourcebook.errors import QueryError
from sourcebook.server.access import Knowledge, Reader, Unredacted
from sourcebook.server.visibility import visible_document

LONGEST_NAME = 4_000
"""Characters of a name, at most: the line of a request holds them, each of twelve bytes, and the longest path."""

router = APIRouter(prefix="/documents", tags=["documents"])


@router.get("/lookup", operation_id="lookup_document")
def lookup_document(
    knowledge: Knowledge,
    grant: Reader,
    name: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=LONGEST_NAME,
            description="Its URI, or the end of its path.",
            examples=["handbook/power.md"],
        ),
    ] = None,
    number: Annotated[int | None, Query(alias="id", description="Its id, in place of a name.")] = None,
    collection: Annotated[str | None, Query(description="Its collection, where several have it.")] = None,
    unredacted: Unredacted = False,
) -> Document:
    """Return a document by its name, with its text, its metadata, its tags and its passages."""
    wanted = number if number is not None else name
    if wanted is None or (name is not None and number is not None):
        raise QueryError("name a document by its name or by its id")
    return visible_document(knowledge, grant, wanted, collection, unredacted=unredacted)
