"""The description of the API (OpenAPI), with the headers that the middleware reads and writes."""

from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI

from sourcebook.server.idempotency import LONGEST_KEY, takes_key
from sourcebook.server.problems import MEDIA_TYPE, ProblemDetails

_KEY: Final = "Idempotency-Key"
_MULTIPART: Final = "multipart/form-data"
_PARAMETER: Final[dict[str, Any]] = {
    "name": _KEY,
    "in": "header",
    "required": False,
    "description": "A name of your own: the same request sent again with it changes nothing again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$"},
}
_LIMITS: Final[dict[str, dict[str, Any]]] = {
    "RateLimit-Limit": {"description": "Requests a minute.", "schema": {"type": "integer"}},
    "RateLimit-Remaining": {"description": "Requests that are left.", "schema": {"type": "integer"}},
    "RateLimit-Reset": {"description": "Seconds until all are back.", "schema": {"type": "integer"}},
    "RateLimit": {"description": "As draft 10 of the IETF writes it.", "schema": {"type": "string"}},
    "RateLimit-Policy": {"description": "As draft 10 of the IETF writes it.", "schema": {"type": "string"}},
}
"""Headers of the answers to callers with a limit."""
_OTHERS: Final[dict[str, dict[str, Any]]] = {
    "Retry-After": {"description": "Seconds until the next attempt.", "schema": {"type": "integer"}},
    "Idempotency-Replayed": {
        "description": "The answer is that of an earlier request with this key.",
        "schema": {"type": "string", "const": "true"},
    },
}
_OF_OPERATIONS: Final[dict[str, dict[str, Any]]] = {
    "ETag": {"description": "Names this state: for `If-None-Match` and `If-Match`.", "schema": {"type": "string"}},
    "Location": {"description": "Path of what was made.", "schema": {"type": "string", "format": "uri-reference"}},
}
"""Headers of some operations."""
_TAGGED: Final[dict[str, frozenset[str]]] = {
    "create_collection": frozenset({"201"}),
    "get_collection_settings": frozenset({"200"}),
    "change_collection": frozenset({"200"}),
    "rename_collection": frozenset({"200"}),
    "add_source": frozenset({"201"}),
    "get_document": frozenset({"200", "304"}),
    "change_document": frozenset({"200"}),
    "curate_document": frozenset({"200"}),
    "get_original": frozenset({"200", "206", "304"}),
    "get_page_image": frozenset({"200", "304"}),
}
"""Statuses of the answers that have an `ETag`, by operation."""
_LOCATED: Final[dict[str, frozenset[str]]] = {
    "create_collection": frozenset({"201"}),
    "add_source": frozenset({"201"}),
    "sync": frozenset({"202"}),
}
"""Statuses of the answers that have a `Location`, by operation."""
_WITH_PAUSE: Final = frozenset({"409", "429", "503"})
"""Statuses of answers that may say when to try again."""


class DescribedApp(FastAPI):
    """An app whose description has what its middleware does: idempotency keys and limits."""

    _described: dict[str, Any] | None = None

    def openapi(self) -> dict[str, Any]:
        """Return the description."""
        found = super().openapi()
        if found is not self._described:
            _add_headers(found)
            _share_failures(found)
            _drop_titles(found)
            self._described = found
        return found


def _add_headers(description: dict[str, Any]) -> None:
    components = description.setdefault("components", {})
    components.setdefault("headers", {}).update(_LIMITS | _OTHERS | _OF_OPERATIONS)
    components.setdefault("parameters", {})[_KEY] = _PARAMETER
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            if "security" not in operation:
                continue
            is_once = takes_key(method.upper(), path) and not _takes_files(operation)
            if is_once:
                others = [each for each in operation.get("parameters", []) if each["name"].lower() != _KEY.lower()]
                operation["parameters"] = [*others, _reference("parameters", _KEY)]
            for status, answer in operation["responses"].items():
                names = [*_LIMITS]
                names += ["Retry-After"] if status in _WITH_PAUSE else []
                names += ["ETag"] if status in _TAGGED.get(operation["operationId"], ()) else []
                names += ["Location"] if status in _LOCATED.get(operation["operationId"], ()) else []
                names += ["Idempotency-Replayed"] if is_once and status.startswith("2") else []
                headers = answer.setdefault("headers", {})
                headers.update({name: _reference("headers", name) for name in names})


def _share_failures(description: dict[str, Any]) -> None:
    """Describe each answer to a request that fails once: clients made from the description have one class for it."""
    components = description["components"]
    components["schemas"][ProblemDetails.__name__] = ProblemDetails.model_json_schema()
    shared: dict[str, Any] = components.setdefault("responses", {})
    for operations in description["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                content: dict[str, Any] = answer.get("content", {}) if status.startswith(("4", "5")) else {}
                for media_type, held in content.items():
                    phrase = HTTPStatus(int(status)).phrase.title().replace(" ", "")
                    of_others = held["schema"]["$ref"].rpartition("/")[2]
                    for name in [phrase] if media_type == MEDIA_TYPE else [of_others, of_others + phrase]:
                        if shared.setdefault(name, answer) == answer:
                            operation["responses"][status] = _reference("responses", name)
                            break


def _drop_titles(part: Any) -> None:
    """Leave out the titles of fields and parameters that only repeat their names."""
    if isinstance(part, list):
        for each in part:
            _drop_titles(each)
        return
    if not isinstance(part, dict):
        return
    properties = part.get("properties")
    fields = dict(properties) if isinstance(properties, dict) else {}
    if isinstance(part.get("name"), str):
        fields[part["name"]] = part.get("schema")
    for name, schema in fields.items():
        if isinstance(schema, dict) and schema.get("title") == name.replace("_", " ").title():
            del schema["title"]
    for each in part.values():
        _drop_titles(each)


def _takes_files(operation: dict[str, Any]) -> bool:
    return _MULTIPART in operation.get("requestBody", {}).get("content", {})


def _reference(kind: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{kind}/{name}"}
