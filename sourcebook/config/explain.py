"""Messages about errors in a configuration: position, value found and values allowed."""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from sourcebook.config.gone_settings import GONE
from sourcebook.config.permissions import PERMISSION_FIELDS
from sourcebook.config.yaml_file import ConfigurationText, KeyPath, Position, describe

MOST_PROBLEMS = 20
"""Lines of an error message; the remaining problems are counted."""

_TOLD = frozenset(
    {"same_source", "pattern", "overlap", "site_url", "header", "network", "membership", "basic", "login"}
    | {"proxy", "browser", "selector", "viewport", "locale"}
    | {"git_url", "git_path", "revision", "web", "match", "target", "synonym"}
    | {"server_url", "variable", "provider", "time_zone", "record_origin", "record_text", "record_table"}
    | {"record_files", "rest_client", "attachment", "principal", "posix"}
)
"""Types of errors whose message is part of the explanation."""
_ALTERNATIVE = re.compile(r"constrained-str|(?:literal|tuple|dict)\[.*\]").fullmatch
"""The name that pydantic gives an alternative of `allowed`, as a part of the place of an error."""
_ACCOUNT = re.compile(r"//[^/\s]*@")
"""User and password in a URL."""
_SECRETS = frozenset({"headers", "login", "proxy", "api_key_env"})
"""Settings whose values may be secrets, which no message shows."""


def explain(error: ValidationError, text: ConfigurationText, model: type[BaseModel]) -> str:
    """Return one line per problem, in the order of the file."""
    errors = _errors(error)
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


def _errors(error: ValidationError) -> list[ErrorDetails]:
    """Return the errors at the places that the file has; of alternatives, those of the one that was meant."""
    errors = error.errors(include_url=False)
    places = {
        (each["loc"][:at], at + 1 < len(each["loc"]))
        for each in errors
        for at, key in enumerate(each["loc"])
        if _ALTERNATIVE(str(key))
    }
    found: dict[tuple[int | str, ...], ErrorDetails] = {}
    for details in errors:
        loc = details["loc"]
        plain = tuple(key for key in loc if not _ALTERNATIVE(str(key)))
        if len(plain) == len(loc) or not _ALTERNATIVE(str(loc[-1])):
            found[*plain, len(found)] = {**details, "loc": plain}
        elif (plain, True) not in places:
            found.setdefault(plain, {**details, "loc": plain})
    return list(found.values())


def problems_without_values(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Return the problems as sentences that name fields and what they allow, and repeat nothing that was written."""
    sentences = list(dict.fromkeys(_without_values(each, model) for each in _errors(error)))
    more = [f"… and {len(sentences) - MOST_PROBLEMS} more"] if len(sentences) > MOST_PROBLEMS else []
    return [*sentences[:MOST_PROBLEMS], *more]


def _without_values(details: ErrorDetails, model: type[BaseModel]) -> str:
    at: KeyPath = (*details["loc"], *details.get("ctx", {}).get("inside", ()))
    at = at[:-1] if at and at[-1] == "[key]" else at
    if details["type"] == "extra_forbidden":
        inside = _known_place(model, at[:-1]) or "the settings"
        unknown = f"there is no such key; allowed: {', '.join(_keys(model, at[:-1]))}"
        return f"{inside}: {_gone(at) or unknown}"
    if details["type"] == "missing":
        return f"{_known_place(model, at)}: the key is missing; it holds {_allowed(model, at)}"
    reason = ""
    if details["type"] in _TOLD | {"secret", "password"}:
        reason = f"{details['msg']}; "
    return f"{_known_place(model, at) or 'the settings'}: {reason}allowed: {_allowed(model, at)}"


def _known_place(model: type[BaseModel], at: KeyPath) -> str:
    """Return a key path with `[…]` in place of the keys that whoever wrote the settings has chosen."""
    shown: list[str] = []
    for length, key in enumerate(at):
        annotation, _ = _declaration(model, at[:length])
        is_known = isinstance(key, int) or (isinstance(annotation, type) and issubclass(annotation, BaseModel))
        shown.append(f"[{key}]" if isinstance(key, int) else f".{key}" if is_known else "[…]")
    return "".join(shown).removeprefix(".")


def _problem(details: ErrorDetails, text: ConfigurationText, model: type[BaseModel]) -> tuple[Position, str]:
    context: Mapping[str, Any] = details.get("ctx", {})
    at: KeyPath = (*details["loc"], *context.get("inside", ()))
    written = _written(text.content, at)
    match details["type"]:
        case "extra_forbidden":
            return text.position(written, of_key=True), f"{describe(written)}: {_unknown_key(model, at)}"
        case "missing":
            parent = describe(written[:-1]) or "the file"
            return text.position(written[:-1]), f"{parent}: the key {at[-1]} is missing; it holds {_allowed(model, at)}"
        case "collection_name":
            at = at[:-1]  # pydantic appends "[key]" to the location of a key
            name, rule = _found(at[-1]), context["rule"]
            return text.position(at, of_key=True), f"{describe(at)}: found the name {name}; allowed: {rule}"
        case "header" if at[-1] == "[key]":
            at = at[:-1]
            return text.position(at, of_key=True), f"{describe(at)}: found the name {_found(at[-1])} ({details['msg']})"
        case _ if at and at[-1] == "[key]":
            at = at[:-1]
            return text.position(at, of_key=True), (
                f"{describe(at)}: found the name {_found(at[-1])}; allowed: {_allowed(model, at[:-1])}"
            )
        case "no_source":
            lists = "; ".join(
                f"{key}, {_allowed(model, (*at, key))}" for key in ("files", "sites", "repositories", "records", "from")
            )
            return text.position(
                at
            ), f"{describe(at)}: found neither files nor sites nor repositories nor records nor from; allowed: {lists}"
        case "secret":
            found = f"found a literal value ({details['msg']})"
            return text.position(at), f"{describe(at)}: {found}; allowed: ${{NAME}}, as in {_allowed(model, at)}"
        case "password":
            found = f"found a URL with a password ({details['msg']})"
            return text.position(at), f"{describe(at)}: {found}; allowed: {_allowed(model, at)}"
        case kind if kind in _TOLD:
            reason = f" ({details['msg']})"
        case _:
            reason = ""
    value = _value(text.content, written)
    found = f"a text of {len(value)} characters" if _SECRETS & {*at} and isinstance(value, str) else _found(value)
    return text.position(written), f"{describe(written)}: found {found}{reason}; allowed: {_allowed(model, at)}"


def _gone(at: KeyPath) -> str | None:
    advice = GONE.get(".".join([key for key in at if isinstance(key, str)][-2:]))
    return advice and f"this setting is gone: {advice}"


def _unknown_key(model: type[BaseModel], at: KeyPath) -> str:
    if gone := _gone(at):
        return gone
    known = dict.fromkeys(_keys(model, at[:-1]), "")
    inner = {name: f"{key}." for key in known for name in _inner_keys(model, (*at[:-1], key))}
    key = str(at[-1]).lower()
    near = difflib.get_close_matches(key, known, n=1) or difflib.get_close_matches(key, inner, n=1)
    meant = f" (did you mean {(inner | known)[near[0]]}{near[0]}?)" if near else ""
    return f"there is no such key{meant}; allowed: {', '.join(known)}"


def _inner_keys(model: type[BaseModel], at: KeyPath) -> Iterable[str]:
    annotation, _ = _declaration(model, at)
    return _fields(annotation) if isinstance(annotation, type) and issubclass(annotation, BaseModel) else ()


def _allowed(model: type[BaseModel], at: KeyPath) -> str:
    annotation, description = _declaration(model, at)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"a mapping with the keys {', '.join(_fields(annotation))}"
    return description


def _keys(model: type[BaseModel], at: KeyPath) -> list[str]:
    annotation, _ = _declaration(model, at)
    return sorted(_fields(annotation), key=lambda name: name in PERMISSION_FIELDS)  # inherited ones come first there


def _declaration(model: type[BaseModel], at: KeyPath) -> tuple[Any, str]:
    """Return the type declared for a key path, and the description of the nearest field around it."""
    annotation: Any = model
    description = ""
    for key in at:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            field = _fields(annotation)[str(key)]
            annotation, description = _without_none(field.annotation), field.description or ""
        else:  # dict[name, value] or tuple[value, ...]
            arguments = get_args(annotation)
            if not arguments:  # within a value of any form
                break
            annotation = arguments[0] if arguments[-1] is Ellipsis else arguments[-1]
    return annotation, description


def _without_none(annotation: Any) -> Any:
    """Return the type of a setting that may be unset."""
    others = [each for each in get_args(annotation) if each is not type(None)]
    return others[0] if type(None) in get_args(annotation) and len(others) == 1 else annotation


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of a model by their names in the file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _written(content: object, at: KeyPath) -> KeyPath:
    """Return a key path as the file has it.

    It is without the place in a list where one mapping stands for the list, and without the key where a text stands for
    the mapping.
    """
    found: list[str | int] = []
    value: Any = content
    for key in at:
        if (isinstance(key, int) and isinstance(value, dict)) or (isinstance(key, str) and isinstance(value, str)):
            continue
        found.append(key)
        is_there = key in value if isinstance(value, dict) else isinstance(value, list) and isinstance(key, int)
        value = value[key] if is_there else None
    return tuple(found)


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
        case str():
            text = _ACCOUNT.sub("//***@", value)
            return repr(text if len(text) <= 60 else f"{text[:60]}…")
    return repr(value)
