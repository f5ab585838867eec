"""Forms of a document's page: tags and metadata given by hand, removal and its undoing."""

from collections.abc import Callable
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from sourcebook.contract.documents import Document
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.operations.documents import Labels, relabel
from sourcebook.operations.overviews import document_history
from sourcebook.server.document_types import DocumentNumber
from sourcebook.server.page.audience_field import principals_in
from sourcebook.server.page.forms import AdministratorForm, Form, WriterForm, redirect_to
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import Knowledge
from sourcebook.server.routes import document_changes
from sourcebook.server.routes.plain import answer_for
from sourcebook.server.visibility import own_document, visible_number

router = APIRouter(include_in_schema=False)
BOOSTS: Final = {"0": 0.0, "4": 4.0, "2": 2.0, "1": 1.0, "0.5": 0.5, "0.25": 0.25}
"""Factors that the form of a document offers."""


@router.post("/documents/{document}/tags")
def change_tags(document: DocumentNumber, knowledge: Knowledge, form: WriterForm) -> Response:
    """Give a document one more tag, or take one back that was given, and lead back to it."""
    added, taken = form.one("add").strip(), form.one("remove")
    if not added and not taken:
        raise QueryError(gettext("write the tag that the document is to have"))
    return _changed(knowledge, form, document, lambda found: (_tags(found, added, taken), None))


@router.post("/documents/{document}/metadata")
def change_metadata(document: DocumentNumber, knowledge: Knowledge, form: WriterForm) -> Response:
    """Give a document metadata of one name, or take them back where no value is sent, and lead back to it."""
    name = form.one("name").strip()
    if not name:
        raise QueryError(gettext("write the name that the metadata are to have"))
    return _changed(knowledge, form, document, lambda _: (None, {name: form.one("value").strip() or None}))


@router.post("/documents/{document}/remove")
def remove_document(document: DocumentNumber, knowledge: Knowledge, form: WriterForm) -> Response:
    """Remove a document until it is restored, and lead back to it."""
    answer_for(form.visitor, knowledge, "remove_document", document=document)
    return redirect_to(f"/documents/{document}")


@router.post("/documents/{document}/restore")
def restore_document(document: DocumentNumber, knowledge: Knowledge, form: WriterForm) -> Response:
    """Undo a removal, and lead to the work that makes the document searchable again."""
    made = document_changes.restored(knowledge, form.visitor, document, form.once).work
    return redirect_to(f"/work/{made[0].id}" if len(made) == 1 else f"/documents/{document}")


@router.post("/documents/{document}/curation")
def curate_document(document: DocumentNumber, knowledge: Knowledge, form: WriterForm) -> Response:
    """Hide a document from search, boost it, or take that back, and lead back to it."""
    boost = BOOSTS.get(form.one("boost"))
    if boost is None:
        raise QueryError(gettext("choose how the document is to stand in searches"))
    document_changes.curated(knowledge, form.visitor, document, boost, form.one("reason"))
    return redirect_to(f"/documents/{document}#about")


@router.post("/documents/{document}/seen-by")
def permit_upload(document: DocumentNumber, knowledge: Knowledge, form: AdministratorForm) -> Response:
    """Change who sees an upload, or take back what it says of it, and lead back to it."""
    item = own_document(knowledge, form.visitor, document).item
    _, uploads = document_history(knowledge, item)
    if not uploads:
        raise QueryError(gettext("the document is no upload: its source says who sees it"))
    allowed, denied = principals_in(form.one("allowed")), principals_in(form.one("denied"))
    name, actor = uploads[0].name, form.visitor.actor
    knowledge.permit_upload(item.collection, name, allowed or None, denied=denied, actor=actor)
    return redirect_to(f"/documents/{document}#about")


def _changed(knowledge: KnowledgeBase, form: Form, document: int, labels: Callable[[Document], Labels]) -> Response:
    """Change what was given to a document by hand, though somebody else changes it at the same time."""
    number = visible_number(knowledge, form.visitor, document)
    relabel(knowledge, number, labels, actor=form.visitor.actor)
    return redirect_to(f"/documents/{document}#about")


def _tags(found: Document, added: str, taken: str) -> list[str]:
    """Return the tags given by hand, with another one or without one."""
    kept = [tag for tag in found.given_tags if tag != taken]
    return [*kept, added] if added and added not in found.tags else kept
