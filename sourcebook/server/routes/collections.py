"""Routes for collections: what they hold, their state, their generations."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from sourcebook.contract.collections import CollectionSummary
from sourcebook.contract.generations import GenerationState
from sourcebook.contract.status import CollectionStatus
from sourcebook.model.cursors import LONGEST_CURSOR
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.visibility import NotFoundError, seen_collections, shown_sources

router = APIRouter(tags=["collections"])
Named = Annotated[list[str] | None, Query(alias="collection", description="Names; every collection by default.")]

Name = Annotated[str, Path(description="Name of the collection.", examples=["handbook"])]


Cursor = Annotated[
    str | None,
    Query(max_length=LONGEST_CURSOR, pattern="^[A-Za-z0-9_-]+$", description="The `next_cursor` of the page before."),
]


class CollectionList(BaseModel):
    """The contents of each collection."""

    collections: list[CollectionSummary]


class StatusList(BaseModel):
    """The state of each collection."""

    collections: list[CollectionStatus]


class GenerationList(BaseModel):
    """The generations of each collection."""

    generations: list[GenerationState]


@router.get("/collections", operation_id="list_collections")
def list_collections(knowledge: Knowledge, grant: Reader) -> CollectionList:
    """Return what each collection holds, in alphabetical order."""
    return CollectionList(collections=[each for each in knowledge.collections() if grant.sees(each.name)])


@router.get("/collections/{name}", operation_id="get_collection")
def get_collection(name: Name, knowledge: Knowledge, grant: Reader) -> CollectionSummary:
    """Return what one collection holds."""
    found = next((each for each in knowledge.collections() if each.name == name and grant.sees(name)), None)
    if found is None:
        raise NotFoundError("there is no such collection")
    return found


@router.get("/status", operation_id="status")
def status(knowledge: Knowledge, grant: Reader, names: Named = None) -> StatusList:
    """Return the state of each collection: contents, stale items, failures, damage, sources and generations.

    Folders are compared with the ledger by name, size and time.
    """
    found = knowledge.status(seen_collections(knowledge, grant, names))
    return StatusList(collections=[replace(each, sources=shown_sources(grant, each.sources)) for each in found])


@router.get("/generations", operation_id="generations")
def generations(knowledge: Knowledge, grant: Reader, names: Named = None) -> GenerationList:
    """Return the generations of collections: of each the active one first."""
    return GenerationList(generations=knowledge.generations(seen_collections(knowledge, grant, names)))
