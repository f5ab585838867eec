"""Options and arguments shared by several commands."""

from typing import Annotated

import typer


def as_text(value: str) -> str:
    """Return an argument as text that the database can store, whatever its bytes."""
    return value.encode("utf-8", "replace").decode()


def _texts(values: list[str] | None) -> list[str]:
    return [as_text(value) for value in values or ()]


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
Collections = Annotated[
    list[str] | None,
    typer.Option("-c", "--collection", metavar="NAME", callback=_texts, help="Only this collection; may be repeated."),
]
Document = Annotated[str, typer.Argument(metavar="DOCUMENT", help="A document's id, its URI, or the path of its file.")]
