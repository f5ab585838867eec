"""The tools for documents one by one: a list of them, and taking one out."""

from collections.abc import Iterable
from datetime import datetime

from pydantic import BaseModel, Field

from sourcebook.contract.documents import Item
from sourcebook.contract.listing import DocumentsOptions
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.audited import read_beyond
from sourcebook.server.mcp.arguments import DocumentsArguments, RemoveDocumentArguments
from sourcebook.server.mcp.budget import clipped
from sourcebook.server.mcp.tools.listings import ListPage, page_of
from sourcebook.server.visibility import existing_document, own_document, seen_collections, shown_items

_LONGEST_ERROR = 300
"""Characters of the reason why a document cannot be read."""


class ListedDocument(BaseModel):
    """A document, or a file or page that is none yet."""

    document: int | None = Field(default=None, description="Its id, for fetch_document and remove_document.")
    title: str | None = None
    uri: str
    collection: str
    state: str = Field(description="`ready` where it can be found, `processing`, `pending`, `failed` or `skipped`.")
    kind: str
    media_type: str | None = None
    language: str | None = None
    version: int
    passages: int
    tokens: int
    tags: list[str]
    updated_at: datetime | None = None
    error: str | None = Field(default=None, description="Why it cannot be read.")


class DocumentsAnswer(ListPage):
    """Documents in the order that was asked for."""

    documents: list[ListedDocument]
    total: int | None = Field(default=None, description="Documents of the whole list, told on its first page.")


class RemovedDocument(BaseModel):
    """A document that is no longer found."""

    document: int | None = None
    uri: str
    collection: str


class RemovedAnswer(BaseModel):
    """The document, once for each collection that it was removed from."""

    removed: list[RemovedDocument]


def list_documents(knowledge: KnowledgeBase, grant: Grant, asked: DocumentsArguments) -> DocumentsAnswer:
    """Return a page of documents, and of files and pages that are no documents.

    Raises:
        NotFoundError: a collection does not exist for the caller.
    """
    names = seen_collections(knowledge, grant, asked.names)
    chosen: DocumentsOptions = {
        "states": asked.states,
        "kinds": asked.kinds,
        "tags": asked.tags,
        "text": asked.text,
        "types": asked.types,
    }
    total = knowledge.count_documents(names, **chosen) if asked.offset == 0 else None
    with read_beyond() as record:
        found = knowledge.documents(names, **chosen, sort=asked.sort, limit=asked.limit + 1, offset=asked.offset)
        shown, rest = page_of(_listed(grant, found), asked, asked.limit)
        record(found[: len(shown)])
    return DocumentsAnswer(documents=shown, total=total, **rest)


def _listed(grant: Grant, found: Iterable[Item]) -> list[ListedDocument]:
    return [
        ListedDocument(
            document=item.document_id,
            title=item.title,
            uri=item.uri,
            collection=item.collection,
            state=item.state,
            kind=item.kind,
            media_type=item.media_type,
            language=item.language,
            version=item.version,
            passages=item.chunks,
            tokens=item.tokens,
            tags=list(item.tags),
            updated_at=item.updated_at,
            error=None if item.error is None else clipped(item.error, _LONGEST_ERROR),
        )
        for item in shown_items(grant, found)
    ]


def remove_document(knowledge: KnowledgeBase, grant: Grant, asked: RemoveDocumentArguments) -> RemovedAnswer:
    """Take a document out of a collection although its source has it still; it is no longer found at once.

    Raises:
        NotFoundError: it does not exist for the caller.
        QueryError: several collections have it, or it follows another document.
    """
    item = existing_document(knowledge, grant, asked.document, asked.collection, reading=None).item
    document = own_document(knowledge, grant, int(item.document_id or 0)).item
    removed = knowledge.remove_document(str(document.document_id), document.collection, actor=grant.actor)
    return RemovedAnswer(
        removed=[
            RemovedDocument(document=each.document_id, uri=each.uri, collection=each.collection) for each in removed
        ]
    )
