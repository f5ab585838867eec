"""Routes of the operations that no other module answers: the table says verb, path, scope, arguments and answer.

Plain are arguments that name collections, a document or a time, and an answer that is a list, a number or nothing. What
else an operation takes or answers, its route is written by hand.
"""

import inspect
import re
from collections.abc import Callable, Iterable
from types import GenericAlias
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path
from fastapi.routing import APIRoute
from pydantic import create_model

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.table import OPERATIONS, Operation
from sourcebook.server.access import Administrator, Knowledge, Reader, Writer
from sourcebook.server.document_types import DocumentNumber
from sourcebook.server.routes.collection_changes import Changed
from sourcebook.server.routes.collections import Name, Named
from sourcebook.server.routes.reports import Since, as_duration
from sourcebook.server.visibility import own_document, seen_collections, shown

_CALLERS: Final = {"read": Reader, "write": Writer, "admin": Administrator}
SessionName = Annotated[
    str, Path(max_length=100, pattern=r"^[A-Za-z0-9_.:-]+$", description="Name of a conversation.", examples=["trip"])
]
_GIVEN: Final = inspect.Parameter.empty
_ARGUMENTS: Final[dict[str, tuple[Any, Any]]] = {
    "collections": (Named, None),
    "since": (Since, None),
    "name": (Name, _GIVEN),
    "document": (DocumentNumber, _GIVEN),
    "session": (SessionName, _GIVEN),
}
"""Types in a URL and defaults of the arguments that are plain."""
_IDS: Final = {
    "judgments": "list_judgments",
    "forget_logged_queries": "forget_queries",
}
"""Names in the description of the API, where they are not those of the operations."""
_TAGS: Final = {
    "ask": "search",
    "documents": "documents",
    "judgments": "judgments",
    "queries": "queries",
    "llm-calls": "queries",
    "audit": "queries",
}
"""Groups of the description by the beginning of the path; `collections` for others."""


def plain_routes(by_hand: Iterable[APIRouter]) -> APIRouter:
    """Return the routes of the operations that none of some routers answers.

    Raises:
        TypeError: such an operation has an argument or an answer that is not plain.
    """
    known = [route for each in by_hand for route in each.routes if isinstance(route, APIRoute)]
    answered = {(verb, _shape(route.path)) for route in known for verb in route.methods or ()}
    router = APIRouter()
    for operation in OPERATIONS.values():
        verb, _, path = operation.http.partition(" /v1")
        if path and (verb, _shape(path)) not in answered:
            name = _IDS.get(operation.name, operation.name)
            router.add_api_route(
                path.replace("{document}", "{document:number}"),
                _endpoint(operation, name),
                methods=[verb],
                name=name,
                operation_id=name,
                tags=[_TAGS.get(path.split("/")[1], "collections")],
                description=re.split(r"\n\n(?:Args|Returns|Raises):", inspect.getdoc(operation.function) or "")[0],
                status_code=204 if operation.answer.kind is None else 200,
            )
    return router


def answer_for(grant: Grant, knowledge: KnowledgeBase, operation: str, /, **sent: Any) -> Any:
    """Return what an operation with plain arguments answers a caller, by what exists for it.

    Raises:
        NotFoundError: a collection or the document does not exist for the caller.
        SourcebookError: see the operation.
    """
    asked = OPERATIONS[operation]
    if "collections" in sent:
        sent["collections"] = seen_collections(knowledge, grant, sent["collections"])
    if "name" in sent:
        seen_collections(knowledge, grant, [sent["name"]])
    if "document" in sent:
        sent["collection"] = own_document(knowledge, grant, sent["document"]).item.collection
    if "since" in sent:
        sent["since"] = as_duration(sent["since"])
    if "actor" in asked.arguments:
        sent["actor"] = grant.actor
    if "owner" in asked.arguments:
        sent["owner"] = grant.identity
    return shown(grant, getattr(knowledge, asked.name)(**sent))


def _endpoint(operation: Operation[Any, Any], name: str) -> Callable[..., Any]:
    """Return the function that answers requests for an operation, as FastAPI reads it."""
    said = {"actor", "owner"} | ({"collection"} if "document" in operation.arguments else set())
    arguments = [each for each in operation.arguments if each not in said]
    unknown = next((each for each in arguments if each not in _ARGUMENTS), None)
    kind, is_list, is_optional = operation.answer
    if unknown is not None or is_optional or (operation.key is None and kind is not None):
        raise TypeError(f"{operation.name}: {unknown or 'the answer'} is not plain: write its route by hand")

    def answer(knowledge: KnowledgeBase, grant: Grant, **sent: Any) -> Any:
        found = answer_for(grant, knowledge, operation.name, **sent)
        return None if operation.key is None else made(**{operation.key: found})

    made: Any = None
    if operation.key is not None:
        fields: Any = {operation.key: (GenericAlias(list, kind) if is_list else kind, ...)}
        made = create_model(f"{name.title().replace('_', '')}Answer", __doc__=f"Answer of `{name}`.", **fields)
    parts = {"knowledge": (Knowledge, _GIVEN), "grant": (_CALLERS[operation.scope], _GIVEN)}
    parts |= {each: _ARGUMENTS[each] for each in arguments}
    if "name" in parts and not operation.http.startswith("GET"):
        parts["name"] = (Changed, _GIVEN)
    answer.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
            for each, (annotation, default) in parts.items()
        ],
        return_annotation=made,
    )
    return answer


def _shape(path: str) -> str:
    """Return a path without the names of its arguments."""
    return re.sub(r"\{[^}]*\}", "{}", path)
