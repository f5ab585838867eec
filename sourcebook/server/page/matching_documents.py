"""The form of the list for all documents that match, not only those of a page: asked once more, with their number."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.contract.documents import Item, RemovedItem
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.operations.audited import read_beyond
from sourcebook.operations.documents import change_many
from sourcebook.server.page.documents import DONE, LISTED, query_of, shown_documents
from sourcebook.server.page.forms import Form, WriterForm, redirect_to
from sourcebook.server.page.rendering import address, render
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.translation import number as number_of
from sourcebook.server.page.visitors import Knowledge
from sourcebook.server.visibility import own_document, seen_collections

if TYPE_CHECKING:
    from sourcebook.admin.many_documents import Act

router = APIRouter(include_in_schema=False)
MOST: Final = 100_000
"""Documents that one form changes."""
_READ: Final = 1_000
_TOLD: Final = 20
"""Documents that are named among those that could not be changed."""


@router.post("/documents/all")
def change_all(request: Request, knowledge: Knowledge, form: WriterForm) -> Response:
    """Ask whether all that match are to be changed, or change them where that was said of as many as there are."""
    act, asked = form.one("act"), {name: form.one(name) for name in LISTED}
    if act not in DONE:
        raise QueryError(gettext("choose what happens to the documents"))
    items = list(_changeable(knowledge, form, asked))
    if len(items) > MOST:
        raise QueryError(
            gettext("more than %(most)s documents match: narrow the list, by collection, tag or text")
            % {"most": number_of(MOST)}
        )
    is_undone = bool(form.one("between"))
    if not items or (form.one("confirmed") != str(len(items)) and not is_undone):
        was = form.one("confirmed")
        values = {"act": act, "given": form.one("given"), "number": len(items), "items": items[:_TOLD], "was": was}
        return render(request, "documents_all.html", 409 if was else 200, asked=asked, **values)
    tag = form.one("given") if act in {"tag", "untag"} else ""
    changed = change_many(knowledge, cast("Act", act), items, tag=tag, actor=form.visitor.actor)
    places = {(each.collection, each.uri) for each in changed}
    reason = gettext("it is part of another file, has as many tags as it may, or has gone meanwhile")
    refused = [(each.uri, reason) for each in items if not _is_changed(each, places)]
    if act == "restore":
        for name in sorted({item.collection for item in items}):
            knowledge.request_work(name, idempotency_key=form.once, actor=form.visitor.actor)
    between = _between(knowledge, form, changed) if act == "remove" else ""
    if refused:
        told = {"done": act, "number": len(changed), "refused": refused[:_TOLD], "missed": len(refused)}
        return shown_documents(request, knowledge, form.visitor, asked, "", 409, **told, between=between)
    return redirect_to(address("/documents", asked, done=act, number=str(len(changed)), between=between))


def _changeable(knowledge: KnowledgeBase, form: Form, asked: dict[str, str]) -> Iterator[Item]:
    """Yield the items of a list that may be changed, one more than `MOST` at most, which no audit notes as shown."""
    query = query_of({**asked, "sort": ""}, limit=_READ)
    options = {name: value for name, value in query.options().items() if value is not None}
    options["collections"] = seen_collections(knowledge, form.visitor, query.collections)
    since, until = _times(form.one("between"))
    after, found, number = None, list[Item](), 0
    while after is None or (len(found) == _READ and number <= MOST):
        with read_beyond():
            found = knowledge.documents(**{**options, "offset": 0}, after=after)
        for item in found:
            removed = item.removed_at
            is_wanted = since is None or (removed is not None and until is not None and since <= removed <= until)
            if item.kind != "source" and item.taken_from is None and is_wanted:
                number += 1
                yield item
        if not found:
            return
        after = found[-1].collection, found[-1].uri


def _is_changed(item: Item, places: set[tuple[str, str]]) -> bool:
    """Return whether an item, or the message or archive that it is a part of and follows, was changed."""
    parts = item.uri.split("/")
    return any((item.collection, "/".join(parts[:end])) in places for end in range(len(parts), 0, -1))


def _between(knowledge: KnowledgeBase, form: Form, changed: list[RemovedItem]) -> str:
    """Return the times of the first removal and of the last one, by which all of them are found again."""
    ids = [each.document_id for each in changed if each.document_id is not None]
    times = (
        [own_document(knowledge, form.visitor, number).item.removed_at for number in {ids[0], ids[-1]}] if ids else []
    )
    known = sorted(each.isoformat() for each in times if each is not None)
    return f"{known[0]} {known[-1]}" if known else ""


def _times(between: str) -> tuple[datetime | None, datetime | None]:
    if not between:
        return None, None
    try:
        since, until = (datetime.fromisoformat(each) for each in between.split(" "))
    except ValueError:
        raise QueryError(gettext("the times of the removals are written otherwise")) from None
    if since.tzinfo is None or until.tzinfo is None:
        raise QueryError(gettext("the times of the removals have no time zone"))
    return since, until
