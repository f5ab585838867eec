"""Routes for keys, those that open nothing that the administrator does not see, and for the audit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sourcebook.admin.access_keys import MOST_ORIGINS, MOST_REQUESTS
from sourcebook.admin.audit import AuditEvent
from sourcebook.config.principals import MOST
from sourcebook.contract.access import AccessKey, PageSession
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant, OnBehalf, Scope
from sourcebook.operations import access_keys
from sourcebook.server.access import Administrator, Knowledge, Operator, Reader
from sourcebook.server.request_models import Sent, as_whole
from sourcebook.server.visibility import NotFoundError, check_unredacted, seen_collections

router = APIRouter(tags=["keys"])
LARGEST_ID: Final = (1 << 63) - 1
"""Larger numbers are no id that the database can be asked for."""


@dataclass(frozen=True, slots=True)
class ShownKey(AccessKey):
    """A key as it is kept, with its state: `valid`, `expired` or `revoked`."""

    state: str = ""


class KeyList(BaseModel):
    """Every key in the order of creation, revoked and expired ones included."""

    keys: list[ShownKey]


class KeyWanted(Sent):
    """A key to create."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "website"}]})

    name: str = Field(min_length=1, max_length=80, description="What a person calls it; no other valid key has it.")
    scopes: list[Scope] = Field(
        default=["read"],
        min_length=1,
        description="`read`, `write` and `admin` include those before them; `unredacted` lifts redaction.",
    )
    collections: Annotated[list[str], Field(min_length=1)] | None = Field(
        default=None, description="The only collections that it sees; every collection by default."
    )
    expires_in: Annotated[int, Field(strict=True, ge=1, le=3_200_000_000), BeforeValidator(as_whole)] | None = Field(
        default=None, description="Seconds until it expires; never by default."
    )
    requests_a_minute: Annotated[int, Field(strict=True, ge=1, le=MOST_REQUESTS), BeforeValidator(as_whole)] | None = (
        Field(default=None, description="The limit of the server by default.")
    )
    principals: Annotated[list[str], Field(min_length=1, max_length=MOST)] | None = Field(
        default=None,
        description="For whom it asks, such as `user:anna@example.org`; everything in its scope by default.",
    )
    on_behalf: OnBehalf | None = Field(
        default=None,
        description="Whether requests must, or may, say for whom they ask (`X-Sourcebook-Principals`); not by default.",
    )
    origins: Annotated[list[str], Field(min_length=1, max_length=MOST_ORIGINS)] | None = Field(
        default=None,
        description="Pages that alone may send it, such as `https://docs.example.com`: it only searches and asks.",
    )


class CreatedKey(BaseModel):
    """A new key. The text is shown this once."""

    text: str = Field(description="What callers send; kept nowhere.")
    key: ShownKey


class SessionList(BaseModel):
    """Browsers that are signed in, the newest first."""

    sessions: list[PageSession]


class AuditPage(BaseModel):
    """A page of what was done, the newest first."""

    events: list[AuditEvent]
    next_cursor: str | None = Field(description="The `cursor` of the next page; null on the last one.")


@router.get("/keys", operation_id="list_keys")
def all_keys(knowledge: Knowledge, grant: Administrator) -> KeyList:
    """Return every key, revoked and expired ones included, without what opens anything."""
    return KeyList(keys=[_shown(key) for key in seen_keys(knowledge, grant)])


@router.post("/keys", status_code=201, operation_id="create_key")
def new_key(
    wanted: KeyWanted, request: Request, response: Response, knowledge: Knowledge, grant: Administrator
) -> CreatedKey:
    """Create a key. An `Idempotency-Key` has no effect here: the answer is kept nowhere, and the name is taken once."""
    request.state.sent = [wanted.name, wanted.collections, wanted.principals, wanted.origins]
    response.headers["Cache-Control"] = "no-store"
    lasts = None if wanted.expires_in is None else timedelta(seconds=wanted.expires_in)
    key, text = made_key(
        knowledge,
        grant,
        wanted.name,
        wanted.scopes,
        wanted.collections,
        lasts=lasts,
        limit=wanted.requests_a_minute,
        principals=wanted.principals,
        on_behalf=wanted.on_behalf,
        origins=wanted.origins,
    )
    return CreatedKey(text=text, key=_shown(key))


@router.delete("/keys/{key:number}", operation_id="revoke_key")
def end_key(
    key: Annotated[int, Path(description="Id of the key.", examples=[1])], knowledge: Knowledge, grant: Administrator
) -> ShownKey:
    """Revoke a key by its id: the next request with it is refused."""
    found = next((each for each in seen_keys(knowledge, grant) if each.id == key), None)
    if found is None:
        raise NotFoundError("there is no such key")
    return _shown(found if found.revoked_at else access_keys.revoke_key(knowledge, key, actor=grant.actor))


@router.get("/sessions", operation_id="list_sessions")
def all_sessions(knowledge: Knowledge, grant: Reader) -> SessionList:
    """Return the browsers that are signed in with the caller's key; an administrator sees those of other keys, too."""
    return SessionList(sessions=access_keys.sessions(knowledge, keys_of_sessions(knowledge, grant)))


@router.delete("/sessions/{session:number}", status_code=204, operation_id="end_session")
def end_session(
    session: Annotated[int, Path(description="Id of the session.", examples=[1])], knowledge: Knowledge, grant: Reader
) -> None:
    """Sign a browser out: its next request asks for a key. Where it is signed out already, nothing happens."""
    if session <= LARGEST_ID:
        access_keys.end_session(knowledge, session, keys_of_sessions(knowledge, grant), actor=grant.actor)


@router.get("/audit", operation_id="audit")
def audit(
    knowledge: Knowledge,
    _: Operator,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    cursor: Annotated[
        str | None, Query(pattern="^[0-9]{1,18}$", description="The `next_cursor` of the page before.")
    ] = None,
) -> AuditPage:
    """Return what was changed, by whom and when, the newest first."""
    found = access_keys.audit(knowledge, limit + 1, before=None if cursor is None else int(cursor))
    following = str(found[limit - 1].id) if len(found) > limit else None
    return AuditPage(events=found[:limit], next_cursor=following)


def seen_keys(knowledge: KnowledgeBase, grant: Grant) -> list[AccessKey]:
    """Return the keys that open nothing that a caller does not see, in the order of creation."""
    return [key for key in access_keys.keys(knowledge) if grant.sees_all(key.collections)]


def keys_of_sessions(knowledge: KnowledgeBase, grant: Grant) -> list[int] | None:
    """Return the ids of the keys whose sessions a caller may see and end; None for those of every key."""
    if not grant.allows("admin"):
        return [] if grant.key_id is None else [grant.key_id]
    return None if grant.collections is None else [key.id for key in seen_keys(knowledge, grant)]


def made_key(
    knowledge: KnowledgeBase,
    grant: Grant,
    name: str,
    scopes: Sequence[Scope],
    collections: list[str] | None,
    *,
    lasts: timedelta | None,
    limit: int | None,
    principals: list[str] | None = None,
    on_behalf: OnBehalf | None = None,
    origins: list[str] | None = None,
) -> tuple[AccessKey, str]:
    """Create a key that opens nothing that its maker does not see; see `access_keys.create_key`.

    Raises:
        WithheldError: it is to lift redaction, which its maker may not.
        NotFoundError: a collection does not exist for its maker.
        QueryError: it is to see every collection, which its maker does not; or an argument is not allowed.
    """
    check_unredacted(grant, "unredacted" in scopes)
    if collections is not None:
        seen_collections(knowledge, grant, collections)
    elif grant.collections is not None:
        raise QueryError("name collections: your own key does not see all of them")
    return access_keys.create_key(
        knowledge,
        name,
        scopes,
        collections,
        lasts=lasts,
        limit=limit,
        seen=grant.collections,
        principals=principals,
        on_behalf=on_behalf,
        origins=origins,
        actor=grant.actor,
    )


def _shown(key: AccessKey) -> ShownKey:
    return ShownKey(**key.as_dict())
