"""The form of the list of documents: what is ticked there is removed, restored or tagged, and that is undone."""

from collections import defaultdict
from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.admin.document_labels import checked_tags
from sourcebook.errors import QueryError, TakenDocumentError, UnknownDocumentError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.cursors import place_of
from sourcebook.operations.documents import relabel
from sourcebook.server.page.documents import DONE, LISTED, shown_documents
from sourcebook.server.page.forms import Form, WriterForm, redirect_to
from sourcebook.server.page.rendering import address
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import Knowledge
from sourcebook.server.visibility import own_document, seen_collections

router = APIRouter(include_in_schema=False)
_Place = tuple[str, str]
"""Collection and URI of an item."""


@router.post("/documents/change")
def change_documents(request: Request, knowledge: Knowledge, form: WriterForm) -> Response:
    """Change the ticked documents one by one, and lead back to the list; show it with those that were refused."""
    act, places = form.one("act"), _places(knowledge, form)
    if act not in DONE or not places:
        raise QueryError(gettext("no document was ticked: tick some, and choose what happens to them"))
    change = _change(knowledge, form, act)
    refused: list[tuple[str, str]] = []
    changed: list[_Place] = []
    numbers: list[int] = []
    for name, uri in places:
        try:
            numbers += change(name, uri)
            changed.append((name, uri))
        except TakenDocumentError:  # its reason names a collection that the visitor may not know
            refused.append((uri, gettext("it is taken from another collection and follows it")))
        except (QueryError, UnknownDocumentError) as error:
            refused.append((uri, str(error)))
    work = _work(knowledge, form, changed) if act == "restore" else 0
    asked = {name: form.one(name) for name in LISTED}
    if refused:
        told = {"done": act, "changed": numbers, "refused": refused, "work": work}
        return shown_documents(request, knowledge, form.visitor, asked, form.one("cursor"), 409, **told)
    return redirect_to(address("/documents", asked, done=act, id=[*map(str, numbers)], work=str(work or "")))


def _places(knowledge: KnowledgeBase, form: Form) -> list[_Place]:
    """Return the items that a form names, by the boxes of a list or by the ids of what was changed before."""
    places = [place_of(box) for box in form.many("item")]
    seen_collections(knowledge, form.visitor, sorted({name for name, _ in places}))
    for number in form.many("id"):
        item = own_document(knowledge, form.visitor, _number(number)).item
        places.append((item.collection, item.uri))
    return list(dict.fromkeys(places))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise QueryError(gettext("a document is named by its number"))
    return int(text)


def _change(knowledge: KnowledgeBase, form: Form, act: str) -> Callable[[str, str], list[int]]:
    """Return what is done with each item; it returns the ids of the documents that it changed."""
    actor = form.visitor.actor
    if act in {"remove", "restore"}:
        removing = knowledge.remove_document if act == "remove" else knowledge.restore_document
        return lambda name, uri: [  # without those of collections that take it, which follow
            each.document_id
            for each in removing(uri, name, actor=actor)
            if each.document_id and each.collection == name
        ]
    (tag,) = checked_tags([form.one("given")])

    def tagged(name: str, uri: str) -> list[int]:
        changed = relabel(
            knowledge,
            uri,
            lambda found: ([each for each in found.given_tags if each != tag] + [tag] * (act == "tag"), None),
            name,
            actor=actor,
        )
        return [changed.item.document_id or 0]

    return tagged


def _work(knowledge: KnowledgeBase, form: Form, restored: list[_Place]) -> int:
    """Ask for the work that makes restored documents searchable; return its number where there is one request."""
    wanted: dict[str, list[str]] = defaultdict(list)
    for name, uri in restored:
        wanted[name].append(uri)
    made = [
        knowledge.request_work(name, documents=sorted(uris), idempotency_key=form.once, actor=form.visitor.actor)
        for name, uris in sorted(wanted.items())
    ]
    return made[0].id if len(made) == 1 else 0
