"""Routes for collections: what they hold, their state, their generations."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from sourcebook.contract.collections import CollectionSummary
from sourcebook.model.cursors import LONGEST_CURSOR
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.visibility import NotFoundError

router = APIRouter(tags=["collections"])
Named = Annotated[list[str] | None, Query(alias="collection", description="Names; every collection by default.")]

Name = Annotated[str, Path(description="Name of the collection.", examples=["handbook"])]


Cursor = Annotated[
    str | None,
    Query(max_length=LONGEST_CURSOR, pattern="^[A-Za-z0-9_-]+$", description="The `next_cursor` of the page before."),
]


@router.get("/collections/{name}", operation_id="get_collection")
def get_collection(name: Name, knowledge: Knowledge, grant: Reader) -> CollectionSummary:
    """Return what one collection holds."""
    found = next((each for each in knowledge.collections() if each.name == name and grant.sees(name)), None)
    if found is None:
        raise NotFoundError("there is no such collection")
    return found
