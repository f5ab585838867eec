"""Messages about errors in a configuration: position, value found and values allowed."""

import difflib
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sourcebook.config.yaml_file import ConfigurationText, KeyPath, Position, describe

MOST_PROBLEMS = 20
"""Lines of an error message; the remaining problems are counted."""


def explain(error: ValidationError, text: ConfigurationText, model: type[BaseModel]) -> str:
    """Return one line per problem, in the order of the file."""
    errors = error.errors(include_url=False)
    blamed = {details["loc"][:-1] for details in errors}
    problems = sorted(
        # A list whose only entry is wrong is not also too short.
        (_problem(each, text, model) for each in errors if each["type"] != "too_short" or each["loc"] not in blamed),
        key=lambda problem: (problem[0].line, problem[0].column),
    )
    lines = [
        f"{text.path}, line {position.line}, column {position.column}: {sentence}"
        for position, sentence in problems[:MOST_PROBLEMS]
    ]
    if len(problems) > MOST_PROBLEMS:
        lines.append(f"… and {len(problems) - MOST_PROBLEMS} more")
    return "\n".join(lines)


def _problem(details: ErrorDetails, text: ConfigurationText, model: type[BaseModel]) -> tuple[Position, str]:
    context: Mapping[str, Any] = details.get("ctx", {})
    at: KeyPath = (*details["loc"], *context.get("inside", ()))
    match details["type"]:
        case "extra_forbidden":
            return text.position(at, of_key=True), f"{describe(at)}: {_unknown_key(str(at[-1]), _keys(model, at[:-1]))}"
        case "missing":
            parent = describe(at[:-1]) or "the file"
            return text.position(at[:-1]), f"{parent}: the key {at[-1]} is missing; it holds {_allowed(model, at)}"
        case "collection_name":
            at = at[:-1]  # pydantic appends "[key]" to the location of a key
            name, rule = _found(at[-1]), context["rule"]
            return text.position(at, of_key=True), f"{describe(at)}: found the name {name}; allowed: {rule}"
        case "header" if at[-1] == "[key]":
            at = at[:-1]
            return text.position(at, of_key=True), f"{describe(at)}: found the name {_found(at[-1])} ({details['msg']})"
        case "no_source":
            lists = "; ".join(f"{key}, {_allowed(model, (*at, key))}" for key in ("files", "sites"))
            return text.position(at), f"{describe(at)}: found neither files nor sites; allowed: {lists}"
        case "secret":
            found = f"found a literal value ({details['msg']})"
            return text.position(at), f"{describe(at)}: {found}; allowed: ${{NAME}}, as in {_allowed(model, at)}"
        case "same_root" | "same_site" | "pattern" | "overlap" | "site_url" | "header" | "network":
            reason = f" ({details['msg']})"
        case _:
            reason = ""
    value = _value(text.content, at)
    found = f"a text of {len(value)} characters" if "headers" in at and isinstance(value, str) else _found(value)
    return text.position(at), f"{describe(at)}: found {found}{reason}; allowed: {_allowed(model, at)}"


def _unknown_key(key: str, known: list[str]) -> str:
    near = difflib.get_close_matches(key.lower(), known, n=1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return f"there is no such key{meant}; allowed: {', '.join(known)}"


def _allowed(model: type[BaseModel], at: KeyPath) -> str:
    annotation, description = _declaration(model, at)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"a mapping with the keys {', '.join(annotation.model_fields)}"
    return description


def _keys(model: type[BaseModel], at: KeyPath) -> list[str]:
    annotation, _ = _declaration(model, at)
    return list(annotation.model_fields)


def _declaration(model: type[BaseModel], at: KeyPath) -> tuple[Any, str]:
    """Return the type declared for a key path, and the description of the nearest field around it."""
    annotation: Any = model
    description = ""
    for key in at:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            field = annotation.model_fields[str(key)]
            annotation, description = field.annotation, field.description or ""
        else:  # dict[name, value] or tuple[value, ...]
            arguments = get_args(annotation)
            annotation = arguments[0] if arguments[-1] is Ellipsis else arguments[-1]
    return annotation, description


def _value(content: object, at: KeyPath) -> object:
    value: Any = content
    for key in at:
        value = value[key]
    return value


def _found(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case dict():
            return "a mapping" if value else "an empty mapping"
        case list():
            return "a list" if value else "an empty list"
        case str() if len(value) > 60:
            return repr(value[:60] + "…")
    return repr(value)
