"""Route that says who may see which documents, and why."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from sourcebook.contract.permissions import Permission, PermissionReason
from sourcebook.model.access import Grant
from sourcebook.server.access import Administrator, Knowledge
from sourcebook.server.routes.collections import Named
from sourcebook.server.visibility import UNSEEN, existing_document, seen_collections

router = APIRouter(tags=["collections"])


class PermissionList(BaseModel):
    """Principals with the documents that they may see."""

    permissions: list[Permission]


@router.get("/permissions", operation_id="permissions")
def permissions(
    knowledge: Knowledge,
    grant: Administrator,
    document: Annotated[str | None, Query(description="A document: its id, URI, or the end of its path.")] = None,
    principals: Annotated[
        list[str] | None,
        Query(alias="principal", description="A caller, who is all of these.", examples=["user:anna@example.org"]),
    ] = None,
    names: Named = None,
) -> PermissionList:
    """Return who may see how many documents of each collection; with `document` who may see it, and why.

    With `principal` each says whether such a caller may see them, and through which groups.
    """
    if document is None:
        seen = seen_collections(knowledge, grant, names)
        return PermissionList(permissions=knowledge.permissions(principals=principals, collections=seen))
    found: list[Permission] = []
    of_these: list[str | None] = [*names] if names else [None]
    for name in of_these:
        number = existing_document(knowledge, grant, document, name, reading=None).item.document_id
        found += knowledge.permissions(number or document, principals=principals)
    return PermissionList(
        permissions=[replace(each, reasons=tuple(_shown(grant, reason) for reason in each.reasons)) for each in found]
    )


def _shown(grant: Grant, reason: PermissionReason) -> PermissionReason:
    """Return a reason without the names of collections that do not exist for the caller."""
    if not grant.sees(reason.collection):
        return replace(reason, collection=UNSEEN, source=UNSEEN, pattern=None)
    if reason.kind == "original" and not grant.sees(reason.source):
        return replace(reason, source=UNSEEN)
    return reason
