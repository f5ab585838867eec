"""The page of keys: who reaches the knowledge base over a network, and until when."""

from datetime import timedelta
from typing import Any, Final, cast

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.admin.access_keys import MOST_REQUESTS
from sourcebook.contract.access import AccessKey
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import SCOPES, Grant, OnBehalf, Scope
from sourcebook.server.page.forms import Administering, AdministratorForm, Form, redirect_to
from sourcebook.server.page.rendering import render
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import Knowledge
from sourcebook.server.routes.keys import end_key as revoke
from sourcebook.server.routes.keys import made_key, seen_keys
from sourcebook.server.visibility import known_collections

router = APIRouter(include_in_schema=False)
LIFETIMES: Final = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "a year", "": "without end"}
"""Words for the days after which a key expires."""
WAYS: Final = {"": "no", "required": "each request says for whom", "optional": "requests may say for whom"}
"""Words for whether requests with a key say for whom they ask."""
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
    revoke(number, knowledge, form.visitor)
    return redirect_to("/keys")


def _made(knowledge: KnowledgeBase, form: Form) -> tuple[AccessKey, str]:
    limit = form.one("limit").strip()
    if limit and not (limit.isascii() and limit.isdigit()):
        raise QueryError(gettext("the limit is a number of requests a minute, or nothing for that of the server"))
    lifetime = form.one("days")
    if lifetime not in LIFETIMES:
        raise QueryError(gettext("choose how long the key lasts"))
    return made_key(
        knowledge,
        form.visitor,
        form.one("name"),
        (cast("Scope", form.one("scope")),),
        form.many("collection") or None,
        lasts=timedelta(days=int(lifetime)) if lifetime else None,
        limit=min(int(limit[:_DIGITS]), MOST_REQUESTS + 1) if limit else None,
        principals=[each.strip() for each in form.one("principals").splitlines() if each.strip()] or None,
        on_behalf=cast("OnBehalf | None", form.one("on_behalf") or None),
        origins=form.one("origins").split() or None,
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
    keys = seen_keys(knowledge, visitor)[::-1]
    values: dict[str, Any] = {
        "keys": sorted(keys, key=lambda key: key.state != "valid"),
        "collections": known_collections(knowledge, visitor),
        "opens_all": visitor.collections is None,
        "scopes": SCOPES,
        "lifetimes": LIFETIMES,
        "ways": WAYS,
        "most": MOST_REQUESTS,
        "made": made,
        "request_base": str(request.base_url),
        "text": text,
        "problem": problem,
        "filled": {
            "name": filled.one("name") if filled else "",
            "scope": filled.one("scope") if filled else "read",
            "days": filled.one("days") if filled else _USUAL,
            "limit": filled.one("limit") if filled else "",
            "collection": filled.many("collection") if filled else [],
            "principals": filled.one("principals") if filled else "",
            "on_behalf": filled.one("on_behalf") if filled else "",
            "origins": filled.one("origins") if filled else "",
        },
    }
    return render(request, "keys.html", status, **values)
