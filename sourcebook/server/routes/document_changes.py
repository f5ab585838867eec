"""Routes that change documents: tags and metadata by hand, removal and its undoing, retries."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Header, Request
from starlette.responses import Response

from sourcebook.contract.documents import Document
from sourcebook.contract.work import WorkRequest
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.documents import Labels, relabel
from sourcebook.server.access import Knowledge, Writer
from sourcebook.server.document_types import (
    MOST_RETRIED,
    Curation,
    DocumentNumber,
    DocumentPatch,
    RestoredDocuments,
    RetryAnswer,
    RetryRequest,
)
from sourcebook.server.problems import PRECONDITION_FAILED, PreconditionError
from sourcebook.server.routes.documents import document_answer, names_tag
from sourcebook.server.types import DocumentAnswer
from sourcebook.server.visibility import (
    NotFoundError,
    own_document,
    seen_collections,
    shown_document,
    visible_document,
)

router = APIRouter(prefix="/documents", tags=["documents"])


@router.post("/retry", status_code=202, operation_id="retry_documents")
def retry_documents(asked: RetryRequest, request: Request, knowledge: Knowledge, grant: Writer) -> RetryAnswer:
    """Ask for failed items to be tried again now, without waiting for their time; return the requests for work.

    With `failure`, the first 1,000 items that failed in this way.
    """
    request.state.sent = [asked.collection, asked.documents]
    if not asked.documents and asked.collection is None:
        raise QueryError("name documents to retry, or a `collection` with failed items")
    if asked.collection is not None:
        seen_collections(knowledge, grant, [asked.collection])
    wanted: Mapping[str, list[str]] = defaultdict(list)
    for document in asked.documents:
        if isinstance(document, str):
            if asked.collection is None:
                raise QueryError("a URI may stand for items of several collections: name its `collection`")
            wanted[asked.collection].append(document.replace("\0", " "))
            continue
        item = visible_document(knowledge, grant, document, asked.collection, reading=None).item
        if asked.collection not in {None, item.collection}:
            raise NotFoundError("there is no such document")
        wanted[item.collection].append(item.uri)
    if asked.collection is not None and not asked.documents:
        wanted = {asked.collection: failed_items(knowledge, asked.collection, asked.failure)}
    if asked.failure is not None:  # no document would stand for all of them
        wanted = {name: uris for name, uris in wanted.items() if uris}
    return RetryAnswer(work=retried(knowledge, grant, wanted))


@router.patch(
    "/{document:number}", response_model=DocumentAnswer, responses=PRECONDITION_FAILED, operation_id="change_document"
)
def change_document(
    document: DocumentNumber,
    asked: DocumentPatch,
    request: Request,
    knowledge: Knowledge,
    grant: Writer,
    if_match: Annotated[str | None, Header(description="The `ETag` of the answer that is to be changed.")] = None,
) -> Response:
    """Give a document tags, metadata and a title by hand; return it as it is then.

    They lie over its own ones, whatever its source says later. With `If-Match` only where nobody has changed it since:
    otherwise 412.
    """
    request.state.sent = [asked.tags, asked.metadata, asked.title]
    number = visible_document(knowledge, grant, document).item.document_id or 0

    def labels(found: Document) -> Labels:
        if if_match is not None and if_match.strip() != "*":
            _, tag = document_answer(shown_document(grant, found))
            if not names_tag(if_match, tag):
                raise PreconditionError("the document has changed: get it again")
        return asked.tags, asked.metadata

    changed = relabel(knowledge, number, labels, title=asked.title, actor=grant.actor)
    content, tag = document_answer(shown_document(grant, changed))
    return Response(content, media_type="application/json", headers={"ETag": tag})


@router.put("/{document:number}/curation", response_model=DocumentAnswer, operation_id="curate_document")
def curate_document(
    document: DocumentNumber, asked: Curation, request: Request, knowledge: Knowledge, grant: Writer
) -> Response:
    """Hide a document from search, boost it, or take that back; return it as it is then.

    A hidden document is kept and listed, and no search finds it. It holds at once, also in collections that take it.
    """
    request.state.sent = [asked.reason]
    content, tag = document_answer(curated(knowledge, grant, document, asked.boost, asked.reason))
    return Response(content, media_type="application/json", headers={"ETag": tag})


def curated(knowledge: KnowledgeBase, grant: Grant, document: int, boost: float, reason: str | None) -> Document:
    """Curate a document of the caller's; return it as the caller may see it."""
    item = own_document(knowledge, grant, document).item
    found = knowledge.curate_document(item.document_id or 0, boost=boost, reason=reason, actor=grant.actor)
    return shown_document(grant, found)


@router.post("/{document:number}/restore", status_code=202, operation_id="restore_document")
def restore_document(document: DocumentNumber, knowledge: Knowledge, grant: Writer) -> RestoredDocuments:
    """Undo a removal, and ask for the work that makes the document searchable again."""
    return restored(knowledge, grant, document)


def restored(knowledge: KnowledgeBase, grant: Grant, document: int, once: str | None = None) -> RestoredDocuments:
    """Restore a document, and ask for its work, which `once` names: named again, it is not asked for again."""
    found = own_document(knowledge, grant, document)
    items = knowledge.restore_document(document, found.item.collection, actor=grant.actor)
    work = [
        knowledge.request_work(each.collection, documents=[each.uri], idempotency_key=once, actor=grant.actor)
        for each in items
    ]
    return RestoredDocuments(restored=items, work=work)


def retried(
    knowledge: KnowledgeBase, grant: Grant, wanted: Mapping[str, list[str]], once: str | None = None
) -> list[WorkRequest]:
    """Ask for failed items to be tried again, by collection those of these URIs, or all where there are none."""
    return [
        knowledge.request_work(
            name, documents=sorted(set(uris)), only_failed=True, idempotency_key=once, actor=grant.actor
        )
        for name, uris in sorted(wanted.items())
    ]


def failed_items(knowledge: KnowledgeBase, collection: str, failure: str | None) -> list[str]:
    """Return the URIs of the items of a collection that failed in a way; none for all of its failed items."""
    if failure is None:
        return []
    items = knowledge.documents(collection, failed=True, failure=failure, limit=MOST_RETRIED)
    return [item.uri for item in items if item.kind != "source"]
