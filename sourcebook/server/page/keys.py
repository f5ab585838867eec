"""The page of keys: who reaches the knowledge base over a network, and until when."""

from datetime import timedelta
from typing import Any, Final, cast

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.admin.access_keys import MOST_REQUESTS, create_key, list_keys, revoke_key
from sourcebook.admin.collections import collection_names
from sourcebook.contract.access import AccessKey
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import SCOPES, Grant, Scope
from sourcebook.server.access import Knowledge
from sourcebook.server.page.forms import Administering, AdministratorForm, Form, led_to
from sourcebook.server.page.rendering import render
from sourcebook.server.visibility import NotFoundError, check_unredacted, seen_collections

router = APIRouter(include_in_schema=False)
LIFETIMES: Final = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "a year", "": "without end"}
"""Words for the days after which a key expires."""
_USUAL: Final = "90"
_DIGITS: Final = 12
"""Digits of a limit that are read: fewer have every limit."""


@router.get("/keys")
def show_keys(request: Request, knowledge: Knowledge, visitor: Administering) -> Response:
    """Show the keys that the visitor may see, and the form that makes one."""
    return _shown(request, knowledge, visitor)


@router.post("/keys")
def make_key(request: Request, knowledge: Knowledge, form: AdministratorForm) -> Response:
    """Make a key, and show it this once; or the form again with what is wrong about it."""
    try:
        key, text = _made(knowledge, form)
    except QueryError as error:
        return _shown(request, knowledge, form.visitor, 400, problem=str(error), filled=form)
    return _shown(request, knowledge, form.visitor, made=key, text=text)


@router.post("/keys/{number}/revoke")
def end_key(number: int, knowledge: Knowledge, form: AdministratorForm) -> Response:
    """Revoke a key: the next request with it is refused."""
    with knowledge.database.connection() as connection:
        known = [key for key in list_keys(connection) if key.id == number and form.visitor.sees_all(key.collections)]
        if not known:
            raise NotFoundError("there is no such key")
        if known[0].revoked_at is None:
            revoke_key(connection, number, actor=form.visitor.actor)
    return led_to("/keys")


def _made(knowledge: KnowledgeBase, form: Form) -> tuple[AccessKey, str]:
    names = form.many("collection")
    check_unredacted(form.visitor, form.one("scope") == "unredacted")
    if names:
        seen_collections(knowledge, form.visitor, names)
    elif form.visitor.collections is not None:
        raise QueryError("choose collections: your own key does not see all of them")
    limit = form.one("limit").strip()
    if limit and not (limit.isascii() and limit.isdigit()):
        raise QueryError("the limit is a number of requests a minute, or nothing for that of the server")
    lifetime = form.one("days")
    if lifetime not in LIFETIMES:
        raise QueryError("choose how long the key lasts")
    with knowledge.database.connection() as connection:
        return create_key(
            connection,
            form.one("name"),
            (cast("Scope", form.one("scope")),),
            names or None,
            lasts=timedelta(days=int(lifetime)) if lifetime else None,
            limit=min(int(limit[:_DIGITS]), MOST_REQUESTS + 1) if limit else None,
            actor=form.visitor.actor,
        )


def _shown(
    request: Request,
    knowledge: KnowledgeBase,
    visitor: Grant,
    status: int = 200,
    *,
    made: AccessKey | None = None,
    text: str | None = None,
    problem: str | None = None,
    filled: Form | None = None,
) -> Response:
    """Return the page with the keys, the newest first, those that still open something before the others."""
    with knowledge.database.connection() as connection:
        keys = [key for key in reversed(list_keys(connection)) if visitor.sees_all(key.collections)]
        names = visitor.seen(collection_names(connection))
    values: dict[str, Any] = {
        "keys": sorted(keys, key=lambda key: key.state != "valid"),
        "collections": names,
        "sees_all": visitor.collections is None,
        "scopes": SCOPES,
        "lifetimes": LIFETIMES,
        "most": MOST_REQUESTS,
        "made": made,
        "text": text,
        "problem": problem,
        "filled": {
            "name": filled.one("name") if filled else "",
            "scope": filled.one("scope") if filled else "read",
            "days": filled.one("days") if filled else _USUAL,
            "limit": filled.one("limit") if filled else "",
            "collection": filled.many("collection") if filled else [],
        },
    }
    return render(request, "keys.html", status, **values)
