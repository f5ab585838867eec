"""Routes that make, change and delete collections, and their sources."""

import json
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Body, Header, Path, Query
from pydantic import ConfigDict, Field, JsonValue
from starlette.responses import JSONResponse, Response

from sourcebook.config.field_types import NAME_RULE
from sourcebook.contract.collections import CollectionDeclaration
from sourcebook.errors import ChangedSettingsError, SettingsError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.access import Administrator, Knowledge, Reader, Writer
from sourcebook.server.problems import ForbiddenError, failures
from sourcebook.server.request_models import Sent
from sourcebook.server.routes.collections import Name
from sourcebook.server.routes.documents import etag
from sourcebook.server.visibility import seen_collections, shown_settings

router = APIRouter(prefix="/collections", tags=["collections"])
Changed = Annotated[str, Path(description="Name of a collection that the API has made.", examples=["website"])]
Former = Annotated[str, Path(description="Name of a collection that the API has made.", examples=["inbox"])]
_CONFLICT: Final = failures(409)
_CHANGED: Final = failures(409, 412)
_NEW: Final[dict[str, JsonValue]] = {
    "name": "website",
    "settings": {"sites": [{"url": "https://docs.example.com/", "max_pages": 200}]},
}
_SOURCE: Final[dict[str, JsonValue]] = {"kind": "site", "source": {"url": "https://blog.example.com/"}}


class NewCollection(Sent):
    """A collection to make."""

    model_config = ConfigDict(json_schema_extra={"examples": [_NEW, {"name": "inbox"}]})

    name: str = Field(min_length=1, max_length=63, description=f"Its name: {NAME_RULE}.")
    settings: dict[str, Any] = Field(
        default_factory=dict,
        description="Settings as in `sourcebook.yaml`, less what would reach into the server; none for uploads alone.",
    )


class NewName(Sent):
    """Another name for a collection."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"new_name": "contracts"}]})

    new_name: str = Field(min_length=1, max_length=63, description=f"Its name: {NAME_RULE}.")


class NewSource(Sent):
    """A source to add to a collection."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SOURCE]})

    kind: Literal["files", "site", "repository", "collection"]
    source: dict[str, Any] = Field(
        description="Its settings, as an entry of `files`, `sites`, `repositories` or `from` in `sourcebook.yaml`."
    )


@router.post(
    "", response_model=CollectionDeclaration, status_code=201, responses=_CONFLICT, operation_id="create_collection"
)
def create_collection(asked: NewCollection, knowledge: Knowledge, grant: Administrator) -> Response:
    """Make a collection; the next ingest reads its sources."""
    made = made_collection(asked.name, asked.settings, knowledge, grant)
    return _answer(made, grant, 201, Location=f"/v1/collections/{quote(made.name)}")


def made_collection(
    name: str, settings: dict[str, Any], knowledge: KnowledgeBase, grant: Grant
) -> CollectionDeclaration:
    """Make a collection that its maker sees, of documents that it sees."""
    _check_name(grant, name)
    check_givers(grant, settings)
    return knowledge.create_collection(name, settings, actor=grant.actor)


@router.get("/{name}/settings", response_model=CollectionDeclaration, operation_id="get_collection_settings")
def get_settings(name: Name, knowledge: Knowledge, grant: Reader) -> Response:
    """Return the settings of a collection without secrets, and whether the file or the API declares it."""
    seen_collections(knowledge, grant, [name])
    return _answer(knowledge.collection_settings(name), grant)


@router.patch("/{name}", response_model=CollectionDeclaration, responses=_CHANGED, operation_id="change_collection")
def change_collection(
    name: Changed,
    patch: Annotated[
        dict[str, Any],
        Body(
            description="A merge patch (RFC 7396) of the settings: null takes one back to its default.",
            examples=[{"retries": {"attempts": 3}}],
        ),
    ],
    knowledge: Knowledge,
    grant: Administrator,
    rebuild: Annotated[
        bool, Query(description="Whether other chunks or another model may build a new generation.")
    ] = False,
    if_match: Annotated[str | None, Header(description="The `ETag` of the settings that were read.")] = None,
) -> Response:
    """Change settings of a collection that the API has made.

    Chunks and the model are fixed by the generation that is searched: with `rebuild` the next ingest builds another.
    """
    seen_collections(knowledge, grant, [name])
    check_givers(grant, patch)
    expected = None
    if if_match is not None and if_match.strip() != "*":
        present = knowledge.collection_settings(name)
        if _tag(present) not in {part.strip() for part in if_match.split(",")}:
            raise ChangedSettingsError("the settings have changed since they were read: read them again")
        expected = present.settings if present.declared_in == "api" else None
    changed = knowledge.change_collection(name, patch, rebuild=rebuild, expected=expected, actor=grant.actor)
    return _answer(changed, grant)


@router.post(
    "/{name}/rename", response_model=CollectionDeclaration, responses=_CONFLICT, operation_id="rename_collection"
)
def rename_collection(name: Former, asked: NewName, knowledge: Knowledge, grant: Administrator) -> Response:
    """Give a collection that the API has made another name, at once in everything that refers to it."""
    return _answer(rename_as_asked(name, asked.new_name, knowledge, grant), grant)


def rename_as_asked(name: str, new_name: str, knowledge: KnowledgeBase, grant: Grant) -> CollectionDeclaration:
    """Rename a collection that the caller sees, to a name that it may see."""
    seen_collections(knowledge, grant, [name])
    _check_name(grant, new_name)
    return knowledge.rename_collection(name, new_name, actor=grant.actor)


@router.post(
    "/{name}/sources",
    response_model=CollectionDeclaration,
    status_code=201,
    responses=_CONFLICT,
    operation_id="add_source",
)
def add_source(name: Changed, asked: NewSource, knowledge: Knowledge, grant: Writer) -> Response:
    """Add a source to a collection that the API has made; the next ingest reads it."""
    seen_collections(knowledge, grant, [name])
    if asked.kind == "collection":
        check_givers(grant, {"from": asked.source})
    after = knowledge.add_source(name, asked.kind, asked.source, actor=grant.actor)
    return _answer(after, grant, 201, Location=f"/v1/collections/{quote(name)}/settings")


@router.delete("/{name}/sources", status_code=204, responses=_CONFLICT, operation_id="remove_source")
def remove_source(
    name: Changed,
    location: Annotated[
        str,
        Query(
            min_length=1,
            max_length=4_096,
            description="The source, as the settings or the status show it.",
            examples=["https://blog.example.com/"],
        ),
    ],
    knowledge: Knowledge,
    grant: Writer,
) -> None:
    """Remove a source from a collection that the API has made; the next ingest removes its documents."""
    seen_collections(knowledge, grant, [name])
    knowledge.remove_source(name, location, actor=grant.actor)


def check_givers(grant: Grant, settings: dict[str, Any]) -> None:
    """Refuse rules that take documents of collections that do not exist for the caller.

    Raises:
        SettingsError: as for a collection that does not exist for anybody.
    """
    rules = settings.get("from")
    for rule in [rules] if isinstance(rules, dict) else rules if isinstance(rules, list) else []:
        giver = rule.get("collection") if isinstance(rule, dict) else None
        if isinstance(giver, str) and not grant.sees(giver.strip()):
            raise SettingsError("from: there is no such collection")


def _check_name(grant: Grant, name: str) -> None:
    if not grant.sees(name):
        raise ForbiddenError("the key is for other collections alone")


def _answer(found: CollectionDeclaration, grant: Grant, status: int = 200, **headers: str) -> Response:
    shown = {**found.as_dict(), "settings": shown_settings(grant, found.settings)}
    return JSONResponse(shown, status, {"ETag": _tag(found), **headers})


def _tag(found: CollectionDeclaration) -> str:
    return etag(json.dumps(found.as_dict(), sort_keys=True).encode())
