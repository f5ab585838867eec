"""Routes for collections: what they hold, their state, their generations."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from sourcebook.contract.collections import CollectionSummary
from sourcebook.model.cursors import LONGEST_CURSOR
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.visibility import NotFoundError, shown

router = APIRouter(tags=["collections"])
Named = Annotated[list[str] | None, Query(alias="collection", description="Names; every collection by default.")]

Name = Annotated[str, Path(description="Name of the collection.", examples=["handbook"])]


Cursor = Annotated[
    str | None,
    Query(max_length=LONGEST_CURSOR, pattern="^[A-Za-z0-9_-]+$", description="The `next_cursor` of the page before."),
]


class CollectionPage(BaseModel):
    """Collections in alphabetical order."""

    collections: list[CollectionSummary]
    total: int = Field(description="Collections of the whole list.")


@router.get("/collections", operation_id="list_collections")
def list_collections(
    knowledge: Knowledge,
    grant: Reader,
    text: Annotated[
        str | None, Query(max_length=1_000, description="Only collections with this in their name or description.")
    ] = None,
    limit: Annotated[int | None, Query(ge=1, le=10_000, description="All by default.")] = None,
    offset: Annotated[int, Query(ge=0, le=1_000_000, description="Collections before the first one.")] = 0,
) -> CollectionPage:
    """Return what each collection holds, in alphabetical order; the status says what is pending."""
    found = shown(grant, knowledge.collections(text=text))
    return CollectionPage(collections=found[offset:][:limit], total=len(found))


@router.get("/collections/{name}", operation_id="get_collection")
def get_collection(name: Name, knowledge: Knowledge, grant: Reader) -> CollectionSummary:
    """Return what one collection holds."""
    found = next((each for each in knowledge.collections() if each.name == name and grant.sees(name)), None)
    if found is None:
        raise NotFoundError("there is no such collection")
    return found
