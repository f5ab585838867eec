"""Options and arguments shared by several commands."""

from datetime import timedelta
from typing import Annotated, Any

import typer

from sourcebook.cli.completion import complete_collections


def as_text(value: str) -> str:
    """Return an argument as text that the database can store, whatever its bytes."""
    return value.encode("utf-8", "replace").decode()


def duration(text: str) -> timedelta:
    """Return the duration of a text such as `30s`, `15m`, `12h` or `1d`.

    Raises:
        typer.BadParameter: the text is none.
    """
    from pydantic import TypeAdapter, ValidationError

    from sourcebook.config.field_types import Duration

    durations: TypeAdapter[timedelta] = TypeAdapter(Duration)
    try:
        return durations.validate_python(text)
    except ValidationError:
        raise typer.BadParameter(f"{text!r} is no duration; write one such as 30s, 15m, 12h or 1d") from None


def as_duration(text: str | None) -> str | None:
    """Check an option that takes a duration, while the command line is read."""
    if text is not None:
        duration(text)
    return text


def listed_names(values: list[str] | None) -> list[str]:
    """Return the names of an option that may be repeated and takes several with commas between."""
    names = (name.strip() for value in values or () for name in as_text(value).split(","))
    return list(dict.fromkeys(name for name in names if name))


def collection_option(help_text: str) -> Any:
    """Return the option `--collection` that takes one name."""
    return typer.Option("-c", "--collection", metavar="NAME", help=help_text, autocompletion=complete_collections)


def collection_argument(help_text: str, metavar: str = "[COLLECTION]...") -> Any:
    """Return the argument that takes names of collections."""
    return typer.Argument(metavar=metavar, help=help_text, autocompletion=complete_collections, callback=listed_names)


Unredacted = Annotated[
    bool,
    typer.Option("--unredacted", help="Show personal data and secrets also of collections that redact them."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
Collections = Annotated[
    list[str] | None,
    typer.Option(
        "-c",
        "--collection",
        metavar="NAME",
        callback=listed_names,
        autocompletion=complete_collections,
        help="Only this collection; several with commas between, or repeated.",
    ),
]
Document = Annotated[
    str, typer.Argument(metavar="DOCUMENT", help="A document's id, its URI, the path of its file, or the end of one.")
]
