"""Visitors: the caller of a page, who has signed in with a key or at the provider, or needs no key.

The cookie holds the token of a session, and no key: out of reach for scripts (HttpOnly) and for requests that another
site causes (SameSite=Strict). Sessions are in the database, so that the end of one, or of its key,
holds at once in every process.
"""

import hmac
import secrets
from typing import Annotated, Final, cast
from urllib.parse import parse_qs

from fastapi import Depends, Request
from starlette.responses import Response

from sourcebook.errors import QueryError, SourcebookError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.model.acting import act_as
from sourcebook.operations.access_keys import key_of_session, person_of_session, renew_session
from sourcebook.server.access import grant_of, knowledge_of
from sourcebook.server.identity.askers import knowledge_of_route
from sourcebook.server.identity.on_behalf import refuse_header, spoken_grant
from sourcebook.server.identity.provider import Provider
from sourcebook.server.page.translation import gettext
from sourcebook.server.problems import NoAccessError
from sourcebook.server.rate_limits import BUCKET

SESSION_COOKIE: Final = "sourcebook_session"
FORM_COOKIE: Final = "sourcebook_form"
"""Cookie of the token that each form repeats: another site can send a form, but not read the token."""


class SignInError(SourcebookError):
    """The visitor has not signed in."""


def visitor_of(request: Request) -> Grant:
    """Return what the visitor of a page may see.

    Raises:
        SignInError: the visitor needs a key and has not signed in with a valid one.
        TooManyRequestsError: the pages that were asked for with the key are more than it may ask for in a minute.
    """
    sent = request.cookies.get(SESSION_COOKIE)
    key = None if sent is None else key_of_session(knowledge_of(request), sent)
    if key is not None:
        if BUCKET not in request.scope:
            limits = request.app.state.limits
            request.scope[BUCKET] = limits.admit(b"\n%d" % key.id, key.requests_a_minute)
        request.state.signed_in_as = key.name
        spoken: Grant = spoken_grant(key, request.headers)
        request.state.visitor = spoken
        return spoken
    person = None if sent is None else _person_of(request, sent)
    if person is not None:
        return person
    try:
        request.state.visitor = grant_of(request)
    except NoAccessError as error:
        raise SignInError(str(error)) from error
    found: Grant = request.state.visitor
    return found


def _person_of(request: Request, sent: str) -> Grant | None:
    """Return what a person whom the provider has named may see; None where the session is none of one."""
    provider: Provider | None = request.app.state.provider
    if provider is None:
        return None
    issuer, every = provider.settings.issuer, provider.sign_in.refresh
    if every is not None:
        renew_session(knowledge_of(request), sent, issuer, every, provider.renewed)
    person = person_of_session(knowledge_of(request), sent, issuer)
    if person is None:
        return None
    refuse_header(request.headers)
    found = request.app.state.tokens.grant_for(person.principals)
    if BUCKET not in request.scope:
        request.scope[BUCKET] = request.app.state.limits.admit(b"\n" + found.identity.encode(), None)
    request.state.signed_in_as, request.state.visitor = person.name, found
    return cast("Grant", found)


Visitor = Annotated[Grant, Depends(visitor_of)]


async def _knowledge(request: Request, visitor: Visitor) -> KnowledgeBase:
    act_as(visitor.actor)
    return knowledge_of_route(request, visitor.asker, knowledge_of(request))


Knowledge = Annotated[KnowledgeBase, Depends(_knowledge)]
"""The knowledge base as it exists for the visitor."""


def keep(
    response: Response, request: Request, name: str, value: str, seconds: int | None = None, *, is_secure: bool = False
) -> None:
    """Have the browser keep a value for this server alone; over TLS, or where it is secure anyway, for TLS alone."""
    is_secure = is_secure or request.url.scheme == "https"
    response.set_cookie(name, value, max_age=seconds, httponly=True, samesite="strict", secure=is_secure)


def form_token(request: Request) -> str:
    """Return the token that the forms of a page repeat: the browser's own, or a new one."""
    kept: str | None = getattr(request.state, "form_token", None) or request.cookies.get(FORM_COOKIE)
    if kept is None or len(kept) < _SHORTEST_TOKEN or not kept.isascii():
        kept = secrets.token_urlsafe(32)
    request.state.form_token = kept
    return kept


def repeats_token(request: Request, fields: dict[str, str]) -> bool:
    """Return whether a form was sent from a page of this server."""
    kept = request.cookies.get(FORM_COOKIE, "")
    return len(kept) >= _SHORTEST_TOKEN and hmac.compare_digest(kept.encode(), fields.get("token", "").encode())


_SHORTEST_TOKEN: Final = 40
_MOST_FIELDS: Final = 200
"""Fields of a form: a page of documents with a box for each, and some more."""


async def _field_lists(request: Request) -> dict[str, list[str]]:
    """Return the fields of a form with their values; the empty ones are left out."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return parse_qs(body, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise QueryError(gettext("the form has too many fields")) from error


FieldLists = Annotated[dict[str, list[str]], Depends(_field_lists)]


def _fields(fields: FieldLists) -> dict[str, str]:
    """Return the fields of a form; of a repeated one the first."""
    return {name: values[0] for name, values in fields.items()}


Fields = Annotated[dict[str, str], Depends(_fields)]
