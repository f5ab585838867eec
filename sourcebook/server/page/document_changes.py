"""Forms of a document's page: tags and metadata given by hand, removal and its undoing."""

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from sourcebook.admin.document_labels import change_labels, lock_document
from sourcebook.admin.items import find_document
from sourcebook.contract.documents import Document
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.access import Knowledge
from sourcebook.server.document_types import DocumentNumber
from sourcebook.server.page.forms import Form, WriterForm, led_to
from sourcebook.server.visibility import own_document, visible_document

router = APIRouter(include_in_schema=False)


@router.post("/documents/{document}/tags")
def change_tags(document: DocumentNumber, knowledge: Knowledge, form: WriterForm) -> Response:
    """Give a document one more tag, or take one back that was given, and lead back to it."""
    added, taken = form.one("add").strip(), form.one("remove")
    if not added and not taken:
        raise QueryError("write the tag that the document is to have")
    return _changed(knowledge, form, document, added=added, taken=taken)


@router.post("/documents/{document}/metadata")
def change_metadata(document: DocumentNumber, knowledge: Knowledge, form: WriterForm) -> Response:
    """Give a document metadata of one name, or take them back where no value is sent, and lead back to it."""
    name = form.one("name").strip()
    if not name:
        raise QueryError("write the name that the metadata are to have")
    return _changed(knowledge, form, document, metadata={name: form.one("value").strip() or None})


@router.post("/documents/{document}/remove")
def remove_document(document: DocumentNumber, knowledge: Knowledge, form: WriterForm) -> Response:
    """Remove a document until it is restored, and lead back to it."""
    found = own_document(knowledge, form.visitor, document)
    knowledge.remove_document(document, found.item.collection, actor=form.visitor.actor)
    return led_to(f"/documents/{document}")


@router.post("/documents/{document}/restore")
def restore_document(document: DocumentNumber, knowledge: Knowledge, form: WriterForm) -> Response:
    """Undo a removal, and lead to the work that makes the document searchable again."""
    found = own_document(knowledge, form.visitor, document)
    restored = knowledge.restore_document(document, found.item.collection, actor=form.visitor.actor)
    made = [
        knowledge.request_work(
            item.collection, documents=[item.uri], idempotency_key=form.once, actor=form.visitor.actor
        )
        for item in restored
    ]
    return led_to(f"/work/{made[0].id}" if len(made) == 1 else f"/documents/{document}")


def _changed(
    knowledge: KnowledgeBase,
    form: Form,
    document: int,
    *,
    added: str = "",
    taken: str = "",
    metadata: dict[str, Any] | None = None,
) -> Response:
    """Change what was given to a document by hand, though somebody else changes it at the same time."""
    number = visible_document(knowledge, form.visitor, document).item.document_id or 0
    with knowledge.database.connection() as connection, connection.transaction():
        lock_document(connection, number)
        tags = None if not added and not taken else _tags(find_document(connection, number), added, taken)
        change_labels(connection, number, tags=tags, metadata=metadata, actor=form.visitor.actor)
    return led_to(f"/documents/{document}#about")


def _tags(found: Document, added: str, taken: str) -> list[str]:
    """Return the tags given by hand, with another one or without one."""
    kept = [tag for tag in found.given_tags if tag != taken]
    return [*kept, added] if added and added not in found.tags else kept
