"""Schemas of the tools as the list of tools shows them: what most calls need, or all of it.

A model reads the list before every conversation. The arguments that few calls need go as `options`, by their names;
a wrong value is answered with a sentence that says which ones are allowed.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

from pydantic import BaseModel

OPTIONS: Final = "options"
"""Argument that holds arguments which the list of tools does not show."""
_KEPT: Final = ("type", "enum", "const", "description", "items", "properties", "required")
"""Keywords of a schema that a model needs to write an argument; a refusal tells of bounds."""
_PLAIN: Final = frozenset({"collections", "limit", "offset", "max_tokens", "tags", "states", "kinds"})
"""Arguments whose names say what they are."""


def short_schema(arguments: type[BaseModel], shown: Collection[str] = ()) -> dict[str, Any]:
    """Return the schema of a tool's arguments, with some of them by their names alone.

    Args:
        arguments: type of the arguments.
        shown: names of the arguments that it describes; all where empty.
    """
    whole = arguments.model_json_schema()
    definitions = whole.get("$defs", {})
    properties = {
        name: _short(held, definitions, is_plain=name in _PLAIN)
        for name, held in whole["properties"].items()
        if not shown or name in shown
    }
    others = [name for name in whole["properties"] if name not in properties]
    if others:
        said = f"Further arguments: {', '.join(others)}."
        properties[OPTIONS] = {"type": "object", "description": said}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | ({"required": whole["required"]} if whole.get("required") else {})


def with_options(sent: Mapping[str, Any], arguments: type[BaseModel]) -> dict[str, Any]:
    """Return what was sent with the arguments among `options` beside the others, which count where both have one.

    What is no object is left for the check of the arguments to refuse.
    """
    options = sent.get(OPTIONS)
    if OPTIONS in arguments.model_fields or not isinstance(options, Mapping):
        return dict(sent)
    return {**options, **{name: value for name, value in sent.items() if name != OPTIONS}}


def _short(schema: Mapping[str, Any], definitions: Mapping[str, Any], *, is_plain: bool = False) -> dict[str, Any]:
    """Return a schema without titles, nulls, bounds and references; of a plain argument without a description."""
    if "$ref" in schema:
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], **schema}
    kinds = [_short(each, definitions) for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    found = {name: schema[name] for name in _KEPT if name in schema and not (is_plain and name == "description")}
    if len(kinds) == 1:
        found = {**kinds[0], **found}
    elif kinds:
        found["type"] = list(dict.fromkeys(each["type"] for each in kinds))
        found |= {name: each[name] for each in kinds for name in ("items", "enum") if name in each}
    if isinstance(found.get("items"), Mapping):
        found["items"] = _short(found["items"], definitions)
    if "properties" in found:
        found.pop("description", None)
        found["properties"] = {
            name: _short(held, definitions, is_plain=name in _PLAIN) for name, held in found["properties"].items()
        }
    return found
