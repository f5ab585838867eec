"""Routes for documents: lists, texts, passages."""

import base64
import hashlib
import json
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from sourcebook.errors import QueryError
from sourcebook.server.access import Knowledge, Reader, seen_collections
from sourcebook.server.routes.search import visible_document
from sourcebook.server.types import ChunkList, DocumentAnswer, DocumentPage

router = APIRouter(prefix="/documents", tags=["documents"])

State = Literal["ready", "pending", "failed", "skipped", "removed", "processing"]
Kind = Literal["file", "page", "recording"]
LONGEST_CURSOR = 12_000


@router.get("", operation_id="list_documents")
def list_documents(
    knowledge: Knowledge,
    grant: Reader,
    collection: Annotated[list[str] | None, Query(description="Names; every collection by default.")] = None,
    state: Annotated[list[State] | None, Query(description="Only items in one of these states.")] = None,
    kind: Annotated[list[Kind] | None, Query(description="Only items of one of these kinds.")] = None,
    text: Annotated[
        str | None, Query(max_length=1_000, description="Only items with this text in their title or URI, in any case.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    cursor: Annotated[
        str | None,
        Query(
            max_length=LONGEST_CURSOR, pattern="^[A-Za-z0-9_-]+$", description="The `next_cursor` of the page before."
        ),
    ] = None,
) -> DocumentPage:
    """Return documents, and files and pages that are no documents, by collection and URI."""
    found = knowledge.documents(
        seen_collections(knowledge, grant, collection),
        states=state or (),
        kinds=kind or (),
        text=_storable(text),
        limit=limit + 1,
        after=None if cursor is None else _after(cursor),
    )
    last = found[limit - 1] if len(found) > limit else None
    return DocumentPage(
        documents=found[:limit], next_cursor=None if last is None else _cursor(last.collection, last.uri)
    )


@router.get("/{document}", response_model=DocumentAnswer, operation_id="get_document")
def get_document(
    document: int,
    knowledge: Knowledge,
    grant: Reader,
    if_none_match: Annotated[str | None, Header(description="The `ETag` of an earlier answer.")] = None,
) -> Response:
    """Return a document with its text as Markdown, its metadata and its tags."""
    found = visible_document(knowledge, grant, storable_number(document))
    body = DocumentAnswer(document=found.item, text=found.text, metadata=found.metadata, tags=found.tags)
    content = body.model_dump_json().encode()
    tag = etag(content)
    if if_none_match is not None and tag in {part.strip().removeprefix("W/") for part in if_none_match.split(",")}:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(content, media_type="application/json", headers={"ETag": tag})


@router.get("/{document}/chunks", operation_id="get_chunks")
def get_chunks(document: int, knowledge: Knowledge, grant: Reader) -> ChunkList:
    """Return the searchable passages of a document, in reading order."""
    return ChunkList(chunks=list(visible_document(knowledge, grant, storable_number(document)).passages))


def etag(content: bytes) -> str:
    """Return the entity tag of an answer, by its content."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def storable_number(document: int) -> int:
    """Return an id that the database can be asked for; 0, which no document has, in place of larger ones."""
    return document if 0 <= document < 1 << 63 else 0


def _storable(text: str | None) -> str | None:
    """Return a text that the database can be asked for."""
    return None if text is None else text.replace("\0", " ").encode("utf-8", "replace").decode()


def _cursor(collection: str, uri: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([collection, uri]).encode()).decode().rstrip("=")


def _after(cursor: str) -> tuple[str, str]:
    """Return the collection and the URI that a cursor stands for.

    Raises:
        QueryError: it is no cursor.
    """
    try:
        collection, uri = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, RecursionError):
        collection = uri = None
    if not isinstance(collection, str) or not isinstance(uri, str) or "\0" in uri:
        raise QueryError("the cursor is none: use the next_cursor of the page before")
    return collection, uri.encode("utf-8", "replace").decode()
