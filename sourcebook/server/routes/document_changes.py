"""Routes that change documents: removal and its undoing, retries."""

from collections import defaultdict

from fastapi import APIRouter, Request

from sourcebook.admin.items import Document
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.access import Knowledge, Writer
from sourcebook.server.document_types import (
    MOST_RETRIED,
    RemovedDocuments,
    RestoredDocuments,
    RetryAnswer,
    RetryRequest,
)
from sourcebook.server.visibility import NotFoundError, seen_collections, visible_document

router = APIRouter(prefix="/documents", tags=["documents"])


@router.post("/retry", status_code=202, operation_id="retry_documents")
def retry_documents(asked: RetryRequest, request: Request, knowledge: Knowledge, grant: Writer) -> RetryAnswer:
    """Ask for failed items to be tried again now, without waiting for their time; return the requests for work.

    With `failure`, the first 1,000 items that failed in this way.
    """
    request.state.sent = [asked.collection, asked.documents]
    if asked.collection is not None:
        seen_collections(knowledge, grant, [asked.collection])
    wanted: dict[str, list[str]] = defaultdict(list)
    for document in asked.documents:
        if isinstance(document, str):
            if asked.collection is None:
                raise QueryError("a URI may stand for items of several collections: name its `collection`")
            wanted[asked.collection].append(document.replace("\0", " "))
            continue
        item = visible_document(knowledge, grant, document, asked.collection).item
        if asked.collection not in {None, item.collection}:
            raise NotFoundError("there is no such document")
        wanted[item.collection].append(item.uri)
    if asked.collection is not None and not asked.documents:
        wanted[asked.collection] = _failed(knowledge, asked)
    work = [
        knowledge.request_work(name, documents=sorted(set(uris)), only_failed=True, actor=grant.actor)
        for name, uris in sorted(wanted.items())
        if uris or asked.failure is None
    ]
    return RetryAnswer(work=work)


@router.delete("/{document}", operation_id="remove_document")
def remove_document(document: int, knowledge: Knowledge, grant: Writer) -> RemovedDocuments:
    """Remove a document although its source still has it; no ingest brings it back until it is restored.

    It leaves the collections that take it by its tags, too. Its rows are kept, with the time of the removal, until a
    purge.
    """
    found = _own_document(knowledge, grant, document)
    removed = knowledge.remove_document(document, found.item.collection, actor=grant.actor)
    return RemovedDocuments(removed=[item for item in removed if grant.sees(item.collection)])


@router.post("/{document}/restore", status_code=202, operation_id="restore_document")
def restore_document(document: int, knowledge: Knowledge, grant: Writer) -> RestoredDocuments:
    """Undo a removal, and ask for the work that makes the document searchable again."""
    found = _own_document(knowledge, grant, document)
    restored = knowledge.restore_document(document, found.item.collection, actor=grant.actor)
    work = [knowledge.request_work(item.collection, documents=[item.uri], actor=grant.actor) for item in restored]
    return RestoredDocuments(restored=restored, work=work)


def _failed(knowledge: KnowledgeBase, asked: RetryRequest) -> list[str]:
    """Return the URIs of the items of a collection that failed in a way; none for all of its failed items."""
    if asked.failure is None:
        return []
    items = knowledge.documents(asked.collection, failed=True, failure=asked.failure, limit=MOST_RETRIED)
    return [item.uri for item in items if item.kind != "source"]


def _own_document(knowledge: KnowledgeBase, grant: Grant, document: int) -> Document:
    """Return a document that exists for a caller and is no other collection's, whose name it may not know."""
    found = visible_document(knowledge, grant, document)
    if found.item.taken_from is not None and not grant.sees(found.item.taken_from):
        raise QueryError("the document is taken from another collection and follows it")
    return found
