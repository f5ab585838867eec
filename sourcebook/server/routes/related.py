"""Route for what a document is related to."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from sourcebook.admin.related import MOST
from sourcebook.config.relation_kinds import RelationKind
from sourcebook.contract.relations import RelatedDocument
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.document_types import DocumentNumber
from sourcebook.server.visibility import existing_document

router = APIRouter(prefix="/documents", tags=["documents"])


class RelatedAnswer(BaseModel):
    """Documents that a document is related to."""

    related: list[RelatedDocument]


@router.get("/{document:number}/related", operation_id="get_related")
def get_related(
    document: DocumentNumber,
    knowledge: Knowledge,
    grant: Reader,
    kind: Annotated[list[RelationKind] | None, Query(description="Only relations of one of these kinds.")] = None,
    direction: Annotated[
        Literal["both", "out", "in"],
        Query(description="`out`: what the document says of others; `in`: what others say of it."),
    ] = "both",
    dangling: Annotated[bool, Query(description="Relations, too, whose document is not there.")] = False,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 100,
) -> RelatedAnswer:
    """Return what a document refers to, requires, supersedes or is part of, and what does so with it."""
    existing_document(knowledge, grant, document)
    return RelatedAnswer(
        related=knowledge.related(document, kinds=kind or (), direction=direction, dangling=dangling, limit=limit)
    )
