"""Access: the caller of a request, and what it may do.

A caller sends a key as `Authorization: Bearer sb_…`, or a signed token in its place. Without one, a server that
listens on this machine alone grants everything to it: whoever reaches it may use the command as well. A page in a
browser could reach it, too, under a name that it made lead here (DNS rebinding): a request without a key must name
the machine by one of its own names. Any page may also send what a form can, files included: what changes something
must not come from a page of another site.
"""

from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

from fastapi import Depends, Query, Request
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool

from sourcebook.admin.access_keys import PREFIX
from sourcebook.contract.access import AccessKey
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant, Scope
from sourcebook.model.acting import act_as
from sourcebook.operations.access_keys import valid_key
from sourcebook.server.bucket_table import Bucket
from sourcebook.server.identity.askers import knowledge_of_route
from sourcebook.server.identity.on_behalf import refuse_header, spoken_grant
from sourcebook.server.problems import ForbiddenError, NoAccessError
from sourcebook.server.rate_limits import BUCKET, PAGES, RateLimits, key_in

if TYPE_CHECKING:
    from sourcebook.server.identity.tokens import Tokens

CALLER: Final = "sourcebook.caller"
"""Key in the scope of a request: the grant of its caller, once it was looked up."""
KEY_SCHEME: Final = HTTPBearer(scheme_name="key", description="A key, sb_…; see `sourcebook key`.", auto_error=False)
"""Access as the description of the API states it; `grant_of` decides."""
_OWN_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
"""Names and addresses by which a machine names itself."""
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""


def knowledge_of(request: Request) -> KnowledgeBase:
    """Return the knowledge base of the server."""
    knowledge: KnowledgeBase = request.app.state.knowledge
    return knowledge


def grant_of(request: Request) -> Grant:
    """Return what the caller of a request may do.

    Raises:
        NoAccessError: no key was sent where one is needed, or it is none, has expired or was revoked.
        ForbiddenError: it says for whom it asks without the right to, or does not say so although it must.
        IssuerError: the issuer of a signed token does not tell its keys.
        TooManyRequestsError: the caller has used up its requests of this minute.
    """
    known: Grant | None = request.scope.get(CALLER)
    if known is None:
        known, limit = _looked_up(request)
        limits: RateLimits = request.app.state.limits
        if BUCKET not in request.scope:
            sent = request.headers.get("authorization")
            text = None if sent is None else key_in(sent.encode("latin-1"))
            if text is not None and known.key_id is None:  # a person has many tokens, one after another
                text = b"\n" + known.identity.encode()
            request.scope[BUCKET] = limits.admit(text, limit)
        request.scope[CALLER] = known
    return known


def present_grant(request: Request) -> Grant:
    """Return what the caller of a request that lasts may do now, counted as no further request.

    Raises:
        NoAccessError: its key has expired or was revoked meanwhile.
    """
    return _looked_up(request)[0]


def _looked_up(request: Request) -> tuple[Grant, int | None]:
    """Return what the caller may do, and the limit of its key in requests a minute."""
    sent = request.headers.get("authorization")
    if sent is None:
        refuse_header(request.headers)
        if not request.app.state.requires_key and names_this_machine(request.headers.get("host", "")):
            if request.method not in _SAFE and not _is_of_no_other_page(request):
                raise ForbiddenError("a page of another site sent this request: send a key")
            return Grant("local caller"), None
        raise NoAccessError("send a key as  Authorization: Bearer sb_…; sourcebook key create  makes one")
    scheme, _, text = sent.partition(" ")
    tokens: Tokens | None = request.app.state.tokens
    if scheme.lower() == "bearer" and tokens is not None and not text.strip().startswith(PREFIX):
        granted = tokens.grant_of(text.strip())
        refuse_header(request.headers)
        return granted, None
    key = valid_key(knowledge_of(request), text.strip()) if scheme.lower() == "bearer" else None
    if key is None:
        raise NoAccessError("the key is not valid: it may have expired or been revoked")
    if key.origins is not None:
        admit_page(request, key)
        raise ForbiddenError("this key belongs to pages of other sites: it searches and asks in their widget alone")
    return spoken_grant(key, request.headers), key.requests_a_minute


def admit_page(request: Request, key: AccessKey) -> Bucket | None:
    """Count a request with a key of pages, which anybody has, by the address that it comes from; return the bucket.

    Raises:
        TooManyRequestsError: the address has used up its requests of this minute.
    """
    limits: RateLimits = request.app.state.limits
    return limits.admit_from(b"page %d" % key.id, address_of(request), key.requests_a_minute or PAGES)


def address_of(request: Request) -> str:
    """Return the address that a request comes from."""
    return request.client.host if request.client else ""


async def _caller(request: Request) -> Grant:
    """Return what the caller may do; a key is looked up in a thread."""
    if "authorization" not in request.headers:
        return grant_of(request)
    return await run_in_threadpool(grant_of, request)


Caller = Annotated[Grant, Depends(_caller)]


async def _whole_knowledge(request: Request) -> KnowledgeBase:
    """Return the knowledge base, without a thread: FastAPI starts one for what is not asynchronous."""
    return knowledge_of(request)


async def _knowledge(request: Request, grant: Caller) -> KnowledgeBase:
    act_as(grant.actor)
    return knowledge_of_route(request, grant.asker, knowledge_of(request))


WholeKnowledge = Annotated[KnowledgeBase, Depends(_whole_knowledge)]
"""The knowledge base for what answers without a caller."""
Knowledge = Annotated[KnowledgeBase, Depends(_knowledge)]
"""The knowledge base as it exists for the caller."""


def needing(scope: Scope) -> Grant:
    """Return the dependency of a route that needs a scope: the grant of the caller, who has it."""

    async def check(grant: Caller) -> Grant:
        if not grant.allows(scope):
            raise ForbiddenError(f"the key does not allow this: it needs the scope {scope}")
        return grant

    found: Grant = Depends(check)
    return found


Reader = Annotated[Grant, needing("read")]
Writer = Annotated[Grant, needing("write")]
Administrator = Annotated[Grant, needing("admin")]
Unredacted = Annotated[
    bool, Query(description="Whether what a collection redacts is shown as it is; needs the scope `unredacted`.")
]


async def _operator(grant: Administrator) -> Grant:
    if grant.collections is not None:
        raise ForbiddenError("the key sees some collections alone: this needs one that sees them all")
    return grant


Operator = Annotated[Grant, Depends(_operator)]
"""An administrator of every collection: who sees the keys and the audit sees beyond collections."""


def _is_of_no_other_page(request: Request) -> bool:
    """Return whether no page of a foreign site sent a request; programs send neither header, and every browser does."""
    origin = request.headers.get("origin")
    if origin == "null":  # so browsers name the server's own page in its forms, whose policy is to send no referrer
        return request.headers.get("sec-fetch-site") == "same-origin"
    if origin is not None:
        return origin in request.app.state.origins or origin.partition("://")[2] == request.headers.get("host")
    return request.headers.get("sec-fetch-site", "none") in {"same-origin", "none"}


def names_this_machine(host: str) -> bool:
    """Return whether the `Host` of a request is this machine, with a port or without."""
    try:
        return urlsplit(f"//{host}").hostname in _OWN_NAMES
    except ValueError:
        return False
