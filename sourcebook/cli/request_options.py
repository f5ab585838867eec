"""Arguments and options of a command from the fields of a request, which `contract.search` declares once."""

import inspect
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias, get_args, get_origin

import typer

from sourcebook.cli.filter_options import parse_filters
from sourcebook.cli.options import Collections, as_text
from sourcebook.contract.asking import HistoryField, SchemaField
from sourcebook.contract.fields import (
    Choice,
    Choices,
    Declared,
    Names,
    Numbers,
    Request,
    Share,
    Switch,
    Text,
    Texts,
    Whole,
    declared,
)
from sourcebook.contract.fusion import Method
from sourcebook.contract.search import FilterField, FusionField

Asked: TypeAlias = dict[str, Any]
"""Values of a request's fields, as `Request.of` takes them."""
_NOT_SHOWN: Final = frozenset({"log"})
"""Fields that no command has."""


def with_options(
    request: type[Request], *, only: Collection[str] = (), panel: str = "", said: Mapping[str, str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of a request in the place of its parameter `asked`, which holds their values.

    A parameter that the command declares itself is left to it.

    Args:
        request: type of the request.
        only: names of the fields; all of them where empty.
        panel: heading of the help that the fields of a contained request stand under.
        said: sentences on fields that mean something else here, by name.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command)
        shown = {
            each.name: each
            for each in declared(request).values()
            if (each.name in only if only else each.name not in _NOT_SHOWN) and each.name not in own.parameters
        }

        @wraps(command)
        def run(**given: Any) -> None:
            command(asked={name: _value(each, given.pop(name)) for name, each in shown.items()}, **given)

        made = [_parameter(each, panel, (said or {}).get(each.name)) for each in shown.values()]
        parameters = [
            parameter
            for each in own.parameters.values()
            for parameter in (made if each.name == "asked" else [each.replace(kind=inspect.Parameter.KEYWORD_ONLY)])
        ]
        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def _parameter(each: Declared, panel: str, said: str | None) -> inspect.Parameter:
    """Return the parameter of a command for a field."""
    field, default, kind = each.field, each.default, _type(each)
    said = said or field.help
    if isinstance(field, Names):
        return inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Collections)
    if isinstance(field, Text):
        info: Any = typer.Argument(metavar=each.name.upper(), help=said)
    else:
        spelling = field.option or f"--{each.name.replace('_', '-')}"
        info = typer.Option(
            *([spelling] if isinstance(field, Switch) else spelling.split("/")),
            metavar=field.metavar or None,
            help=f"{said.removesuffix('.')}; may be repeated." if get_origin(kind) is list else said,
            rich_help_panel=(panel if "." in each.path else "") or field.panel or None,
            show_default=default is not None,
        )
    if isinstance(field, FusionField):
        default = default.method
    elif default is MISSING:
        default = inspect.Parameter.empty
    elif default is None or default == ():
        kind, default = kind | None, None
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )


def _type(each: Declared) -> Any:
    """Return the type of a value on the command line."""
    match each.field:
        case Numbers():
            return list[int]
        case Choices() if not each.field.metavar:
            return list[StrEnum(each.name, {choice: choice for choice in each.choices})]  # type: ignore[misc] # as typer reads it
        case Text() | FilterField() | Choices() | Texts():
            return list[str]
        case Whole():
            return int
        case Share():
            return float
        case Switch():
            return bool
        case Choice():
            return StrEnum(each.name, {choice: choice for choice in each.choices})
        case FusionField():
            return StrEnum(each.name, {method: method for method in get_args(Method)})
    return str


def _value(each: Declared, given: Any) -> Any:
    """Return a value of the command line as the request takes it."""
    match each.field, given:
        case Text(), _:
            return as_text(" ".join(given))
        case SchemaField() | HistoryField(), str():
            return _json_of(each, given)
        case HistoryField(), None:
            return ()
        case FilterField(), _:
            return parse_filters(map(as_text, given or ()))
        case Names(), _:
            return given or None
        case Choices() | Texts(), _:
            return tuple(map(as_text, given or ()))
        case _, str():
            return as_text(given)
    return given


def _json_of(each: Declared, given: str) -> Any:
    """Return the JSON of a file, or of a value that is JSON itself."""
    text = given
    try:
        if not given.lstrip().startswith(("{", "[")):
            text = Path(given).read_text("utf-8")
        return json.loads(text)
    except OSError as error:
        raise typer.BadParameter(f"--{each.name.replace('_', '-')}: {given}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise typer.BadParameter(f"--{each.name.replace('_', '-')} must be JSON, or a file of JSON") from None
