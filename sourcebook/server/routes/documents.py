"""Routes for documents: lists, texts, passages."""

import hashlib
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from sourcebook.admin.related import MOST
from sourcebook.config.document_types import TypeName
from sourcebook.config.relation_kinds import RelationKind
from sourcebook.contract.documents import Document
from sourcebook.contract.listing import DocumentsRequest
from sourcebook.contract.relations import RelatedDocument
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.cursors import cursor_of, place_of
from sourcebook.operations.audited import read_beyond
from sourcebook.server.access import Knowledge, Reader, Unredacted
from sourcebook.server.document_types import DocumentNumber
from sourcebook.server.request_models import Carried, carrying
from sourcebook.server.routes.collections import Cursor
from sourcebook.server.types import ChunkList, DocumentAnswer, DocumentPage
from sourcebook.server.visibility import existing_document, seen_collections, shown_items, visible_document

router = APIRouter(prefix="/documents", tags=["documents"])

MOST_BEFORE = 1_000_000
"""Items before a page, at most."""
LONGEST_NAME = 4_000
"""Characters of a name, at most: the line of a request holds them, each of twelve bytes, and the longest path."""


class RelatedAnswer(BaseModel):
    """Documents that a document is related to."""

    related: list[RelatedDocument]


@carrying(DocumentsRequest, in_url=True)
class DocumentsQuery(Carried):
    """A list of documents; every option of `KnowledgeBase.documents`."""

    model_config = ConfigDict(extra="ignore")

    types: list[TypeName] | None = Field(
        default=None, alias="type", description="Only documents of this type, such as adr."
    )
    limit: int = Field(default=50, ge=1, le=1_000)
    offset: int = Field(
        default=0,
        ge=0,
        le=MOST_BEFORE,
        description="Items before the first one: the way on where `failed`, `failure`, `processing` or the kind "
        "`source` limits the list, which has no cursor then.",
    )
    cursor: Cursor = None


@router.get("", operation_id="list_documents")
def list_documents(knowledge: Knowledge, grant: Reader, asked: Annotated[DocumentsQuery, Query()]) -> DocumentPage:
    """Return documents, and files and pages that are no documents, by collection and URI or in the order asked for."""
    options = {name: value for name, value in asked.options().items() if value is not None}
    options |= {"collections": seen_collections(knowledge, grant, asked.collections), "limit": asked.limit + 1}
    with read_beyond() as record:
        found = knowledge.documents(**options, after=None if asked.cursor is None else place_of(asked.cursor))
        record(found[: asked.limit])
    # These come behind the others, in no order of theirs.
    has_no_order = asked.failed or asked.failure or asked.processing or "source" in (asked.kinds or ())
    last = found[asked.limit - 1] if not has_no_order and len(found) > asked.limit else None
    return DocumentPage(
        documents=shown_items(grant, found[: asked.limit]),
        next_cursor=None if last is None else cursor_of(last.collection, last.uri),
        total=_total(knowledge, options, len(found)) if asked.cursor is None else None,
    )


def _total(knowledge: KnowledgeBase, options: dict[str, Any], found: int) -> int:
    """Return the number of items of a list; it is not counted where the first page has all of them."""
    limit, offset = options["limit"], options.get("offset", 0)
    if found < limit and not offset:
        return found
    conditions = {name: value for name, value in options.items() if name not in {"limit", "offset", "sort"}}
    return knowledge.count_documents(**conditions)


@router.get(
    "/{document:number}",
    response_model=DocumentAnswer,
    operation_id="get_document",
    responses={304: {"description": "Nothing has changed since the answer with the `ETag` that was sent."}},
)
def get_document(
    document: DocumentNumber,
    knowledge: Knowledge,
    grant: Reader,
    unredacted: Unredacted = False,
    if_none_match: Annotated[str | None, Header(description="The `ETag` of an earlier answer.")] = None,
) -> Response:
    """Return a document with its text as Markdown, its metadata and its tags."""
    content, tag = document_answer(visible_document(knowledge, grant, document, unredacted=unredacted))
    if names_tag(if_none_match, tag):
        return Response(status_code=304, headers={"ETag": tag})
    return Response(content, media_type="application/json", headers={"ETag": tag})


@router.get("/{document:number}/chunks", operation_id="get_chunks")
def get_chunks(
    document: DocumentNumber, knowledge: Knowledge, grant: Reader, unredacted: Unredacted = False
) -> ChunkList:
    """Return the searchable passages of a document, in reading order."""
    return ChunkList(chunks=list(visible_document(knowledge, grant, document, unredacted=unredacted).passages))


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
    existing_document(knowledge, grant, document, reading=None)
    return RelatedAnswer(
        related=knowledge.related(document, kinds=kind or (), direction=direction, dangling=dangling, limit=limit)
    )


def document_answer(found: Document) -> tuple[bytes, str]:
    """Return a document as the JSON of an answer, and the entity tag of it."""
    body = DocumentAnswer(
        document=found.item,
        text=found.text,
        metadata=found.metadata,
        tags=found.tags,
        given_tags=found.given_tags,
        given_metadata=found.given_metadata,
        given_title=found.given_title,
    )
    content = body.model_dump_json().encode()
    return content, etag(content)


def names_tag(header: str | None, tag: str) -> bool:
    """Return whether an `If-Match` or `If-None-Match` names an entity tag."""
    return header is not None and tag in {part.strip().removeprefix("W/") for part in header.split(",")}


def etag(content: bytes) -> str:
    """Return the entity tag of an answer, by its content."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'
