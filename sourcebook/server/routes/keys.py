"""Routes for keys, those that open nothing that the administrator does not see, and for the audit."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sourcebook.admin.access_keys import MOST_REQUESTS, create_key, list_keys, revoke_key
from sourcebook.admin.audit import AuditEvent, audit_events
from sourcebook.contract.access import AccessKey
from sourcebook.errors import QueryError
from sourcebook.model.access import Scope
from sourcebook.server.access import Administrator, Knowledge, Operator
from sourcebook.server.types import as_whole
from sourcebook.server.visibility import NotFoundError, check_unredacted, seen_collections

router = APIRouter(tags=["keys"])


@dataclass(frozen=True, slots=True)
class ShownKey(AccessKey):
    """A key as it is kept, with its state: `valid`, `expired` or `revoked`."""

    state: str = ""


class KeyList(BaseModel):
    """Every key in the order of creation, revoked and expired ones included."""

    keys: list[ShownKey]


class KeyWanted(BaseModel):
    """A key to create."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [{"name": "website"}]})

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


class CreatedKey(BaseModel):
    """A new key. The text is shown this once."""

    text: str = Field(description="What callers send; kept nowhere.")
    key: ShownKey


class AuditPage(BaseModel):
    """A page of what was done, the newest first."""

    events: list[AuditEvent]
    next_cursor: str | None = Field(description="The `cursor` of the next page; null on the last one.")


@router.get("/keys", operation_id="list_keys")
def all_keys(knowledge: Knowledge, grant: Administrator) -> KeyList:
    """Return every key, revoked and expired ones included, without what opens anything."""
    with knowledge.database.connection() as connection:
        return KeyList(keys=[_shown(key) for key in list_keys(connection) if grant.sees_all(key.collections)])


@router.post("/keys", status_code=201, operation_id="create_key")
def new_key(
    wanted: KeyWanted, request: Request, response: Response, knowledge: Knowledge, grant: Administrator
) -> CreatedKey:
    """Create a key. An `Idempotency-Key` has no effect here: the answer is kept nowhere, and the name is taken once."""
    request.state.sent = [wanted.name, wanted.collections]
    response.headers["Cache-Control"] = "no-store"
    check_unredacted(grant, "unredacted" in wanted.scopes)
    if wanted.collections is not None:
        seen_collections(knowledge, grant, wanted.collections)
    elif grant.collections is not None:
        raise QueryError("name collections: your own key does not see all of them")
    with knowledge.database.connection() as connection:
        key, text = create_key(
            connection,
            wanted.name,
            wanted.scopes,
            wanted.collections,
            lasts=None if wanted.expires_in is None else timedelta(seconds=wanted.expires_in),
            limit=wanted.requests_a_minute,
            actor=grant.actor,
        )
    return CreatedKey(text=text, key=_shown(key))


@router.delete("/keys/{key:number}", operation_id="revoke_key")
def end_key(
    key: Annotated[int, Path(description="Id of the key.", examples=[1])], knowledge: Knowledge, grant: Administrator
) -> ShownKey:
    """Revoke a key by its id: the next request with it is refused."""
    with knowledge.database.connection() as connection:
        found = [each for each in list_keys(connection) if each.id == key and grant.sees_all(each.collections)]
        if not found:
            raise NotFoundError("there is no such key")
        if found[0].revoked_at is not None:
            return _shown(found[0])
        return _shown(revoke_key(connection, key, actor=grant.actor))


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
    with knowledge.database.connection() as connection:
        found = audit_events(connection, limit + 1, before=None if cursor is None else int(cursor))
    following = str(found[limit - 1].id) if len(found) > limit else None
    return AuditPage(events=found[:limit], next_cursor=following)


def _shown(key: AccessKey) -> ShownKey:
    return ShownKey(**key.as_dict())
