"""Callers with a key of pages: it opens the widget's routes alone, to the pages of its origins alone.

Whoever looks at such a page can read its key. A browser says truly which page sends a request, so that no other page
can use the key in the browsers of others; a program can say what it likes. So the key opens what everyone may see, and
its requests are counted by the address that they come from.
"""

from typing import Annotated, Final

from fastapi import Depends, Query, Request

from sourcebook.contract.access import AccessKey
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.model.acting import act_as
from sourcebook.operations.access_keys import valid_key
from sourcebook.server.access import address_of, admit_page, grant_of, knowledge_of
from sourcebook.server.identity.askers import knowledge_for
from sourcebook.server.identity.on_behalf import refuse_header
from sourcebook.server.problems import ForbiddenError, NoAccessError
from sourcebook.server.rate_limits import BUCKET, RateLimits

ALLOWED: Final = "sourcebook.allowed_origin"
"""Key in the scope of a request: the origin whose pages may read the answer."""
QUESTIONS: Final = 10
"""Questions to a language model a minute from one address: each costs."""


def public_grant(
    request: Request,
    embed: Annotated[int | None, Query(description="Id of the key of the frame that asks.")] = None,
) -> Grant:
    """Return what a page of another site, or a frame in it, may do.

    Raises:
        NoAccessError: no valid key was sent.
        ForbiddenError: the key is none of pages, or of other pages than the one that sent the request.
        TooManyRequestsError: the address has used up its requests of this minute.
    """
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    key = valid_key(knowledge_of(request), text.strip()) if scheme.lower() == "bearer" else None
    if key is None:
        raise NoAccessError("the key is not valid: it may have expired or been revoked")
    if key.origins is None:
        grant_of(request)  # counted as everywhere
        raise ForbiddenError("this key opens more than a page may hold: make one with  sourcebook key create --origin")
    sent = request.headers.getlist("origin")
    if len(sent) == 1 and sent[0] in key.origins:
        request.scope[ALLOWED] = sent[0]
    request.scope[BUCKET] = admit_page(request, key)
    refuse_header(request.headers)
    if ALLOWED not in request.scope and not _is_of_own_frame(request, sent, key, embed):
        raise ForbiddenError("this key belongs to the pages of other sites than the one that sent the request")
    return key.grant


def count_question(request: Request, grant: Grant) -> None:
    """Count a question to a language model.

    Raises:
        TooManyRequestsError: the address has asked as many in this minute as it may.
    """
    limits: RateLimits = request.app.state.limits
    limits.admit_from(b"question %d" % (grant.key_id or 0), address_of(request), QUESTIONS)


def _is_of_own_frame(request: Request, sent: list[str], key: AccessKey, embed: int | None) -> bool:
    """Return whether the frame of this server sent a request, which only pages of the key's origins can show."""
    is_own = len(sent) == 1 and sent[0].partition("://")[2] == request.headers.get("host")
    return is_own and embed == key.id


PublicCaller = Annotated[Grant, Depends(public_grant)]


async def _knowledge(request: Request, grant: PublicCaller) -> KnowledgeBase:
    act_as(grant.actor)
    return knowledge_for(grant.asker, knowledge_of(request))


PublicKnowledge = Annotated[KnowledgeBase, Depends(_knowledge)]
"""The knowledge base as everyone sees it."""
